//! Where aged drives are kept between runs, as flags and the environment say.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lab::DriveCache;

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
        let cache = match &self.snapshots {
            Some(folder) => (!folder.as_os_str().is_empty()).then(|| DriveCache::new(folder)),
            None => DriveCache::usual(),
        };
        cache.map(Arc::new)
    }
}
