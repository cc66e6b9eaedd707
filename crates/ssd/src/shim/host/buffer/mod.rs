//! shim
family! {
    /// Question
    /// of two lines?
    path "host/buffer", default lru_write;
    members { lru_write: LruWrite }
    methods {
        /// Choose.
        fn choose(&mut self, a: u32, b: &u32) -> Option<u32>;
        /// Look.
        fn look(&self) -> u32;
        /// On.
        fn on_thing(&mut self);
    }
}
