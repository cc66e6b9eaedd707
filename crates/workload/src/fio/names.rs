//! Names of files that jobs use.

use super::settings::Job;

/// Whether a file is a device: the whole drive.
pub(super) fn is_device(name: &str) -> bool {
    name.starts_with("/dev/")
}

/// Names between colons; a colon with a backslash before it belongs to a name.
pub(super) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, names.last_mut()) {
            ('\\', Some(name)) if letters.peek() == Some(&':') => name.extend(letters.next()),
            (':', _) => names.push(String::new()),
            (_, Some(name)) => name.push(letter),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Names of the files of a clone.
pub(super) fn names(job: &Job, number: u64) -> Vec<String> {
    let folders = split_names(job.directory.as_deref().unwrap_or_default());
    let within = |folder: Option<&String>, name: String| match folder {
        Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
        None => name,
    };
    if let Some(names) = &job.filename {
        let within = |name: String| if name.starts_with('/') { name } else { within(folders.first(), name) };
        return split_names(names).into_iter().map(within).collect();
    }
    let format = job.filename_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    let folder = (!folders.is_empty()).then(|| &folders[number as usize % folders.len()]);
    let name = |file: u64| {
        let name = format.replace("$jobname", &job.name).replace("$jobnum", &number.to_string());
        name.replace("$filenum", &file.to_string()).replace("$clientuid", "localhost")
    };
    (0..job.nrfiles).map(|file| within(folder, name(file))).collect()
}
