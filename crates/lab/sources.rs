// A hash of what a program was built from. Part of the build script, and of a test.

/// What decides how a drive ages, from this crate's folder.
const DECIDING: [&str; 6] =
    ["src", "../abi/src", "../ssd/src", "../workload/src", "../../presets", "../../Cargo.lock"];

/// A hash of the names and contents of all files in these files and folders, counted from `root`; `seen` is told of
/// each of them. The same with each compiler, and where there is no git. A published crate lies alone: there its
/// version stands for the others, which it asks for exactly.
fn hash_of_sources(root: &std::path::Path, of: &[&str], seen: &mut dyn FnMut(&str)) -> u64 {
    let (mut files, mut open) = (Vec::new(), of.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
    while let Some(path) = open.pop() {
        seen(&path);
        match std::fs::read_dir(root.join(&path)) {
            Ok(inside) => {
                let names = inside.filter_map(Result::ok).map(|entry| entry.file_name());
                open.extend(names.map(|name| format!("{path}/{}", name.to_string_lossy())));
            }
            Err(_) => files.push(path),
        }
    }
    files.sort();
    // FNV-1a, as its authors have it.
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let version = env!("CARGO_PKG_VERSION").as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    files.iter().fold(version, |hash, path| {
        let hash = path.as_bytes().iter().fold(hash, fnv);
        std::fs::read(root.join(path)).unwrap_or_default().iter().fold(hash, fnv)
    })
}
