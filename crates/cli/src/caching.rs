//! Where aged drives are kept between runs, as flags and the environment say.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lab::DriveCache;

/// Names the folder of the cache in the environment; empty for none.
const VARIABLE: &str = "WORDLINE_CACHE";

/// Which folder.
#[derive(Args, Debug)]
pub struct CacheArgs {
    /// Keep aged drives in this folder [default: $WORDLINE_CACHE, or wordline in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub snapshots: Option<PathBuf>,
}

impl CacheArgs {
    /// The cache; none where the environment says so, or knows no place.
    pub fn open(&self) -> Option<Arc<DriveCache>> {
        let variable = |name: &str| std::env::var_os(name);
        let named = self.snapshots.clone().or_else(|| variable(VARIABLE).map(PathBuf::from));
        let folder = named.or_else(|| {
            let home = |name: &str| variable(name).filter(|text| !text.is_empty()).map(PathBuf::from);
            let cache = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")));
            Some(cache?.join("wordline"))
        })?;
        (!folder.as_os_str().is_empty()).then(|| Arc::new(DriveCache::new(folder)))
    }
}
