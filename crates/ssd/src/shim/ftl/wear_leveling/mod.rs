//! shim
family! {
    /// Question
    /// of two lines?
    path "ftl/wear_leveling", default none;
    members { none: None }
    methods {
        /// Choose.
        fn choose(&mut self, a: u32, b: &u32) -> Option<u32>;
        /// Look.
        fn look(&self) -> u32;
        /// On.
        fn on_thing(&mut self);
    }
}
