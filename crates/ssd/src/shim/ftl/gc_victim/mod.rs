//! shim
family! {
    /// Question
    /// of two lines?
    path "ftl/gc_victim", default greedy;
    members { greedy: Greedy, d_choices: DChoices }
    methods {
        /// Choose.
        fn choose(&mut self, a: u32, b: &u32) -> Option<u32>;
        /// Look.
        fn look(&self) -> u32;
        /// On.
        fn on_thing(&mut self);
    }
}
