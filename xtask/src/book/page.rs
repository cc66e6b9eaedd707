//! What a page is made of, as far as it is checked: headings, links, inline code and fenced blocks.

/// A page of Markdown, taken apart.
#[derive(Debug, Default)]
pub struct Page {
    /// Path from the root of the checkout.
    pub path: String,
    /// The anchors that its headings have.
    pub anchors: Vec<String>,
    /// Targets of links and pictures, each with its line.
    pub links: Vec<(usize, String)>,
    /// Inline code, each with its line.
    pub codes: Vec<(usize, String)>,
    /// Fenced blocks.
    pub fences: Vec<Fence>,
}

/// A fenced block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    /// Line of its opening.
    pub line: usize,
    /// First word behind the opening: `sh`, `toml`, `text`.
    pub language: String,
    /// The other words: `soak`, `exit=2`, `skip="needs root"`.
    pub options: Vec<(String, String)>,
    /// What stands between.
    pub text: String,
}

impl Fence {
    /// The value of an option; empty for one that has none.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Page {
    /// Takes a page apart; an error names the line.
    pub fn parse(path: &str, text: &str) -> Result<Page, String> {
        let mut page = Page { path: path.to_owned(), ..Page::default() };
        let mut lines = (1..).zip(text.lines());
        while let Some((line, content)) = lines.next() {
            if let Some(info) = content.trim_start().strip_prefix("```") {
                let mut fence = opening(line, info).map_err(|error| format!("{path}:{line}: {error}"))?;
                loop {
                    match lines.next() {
                        Some((_, inside)) if inside.trim() == "```" => break,
                        Some((_, inside)) => fence.text.extend([inside, "\n"]),
                        None => return Err(format!("{path}:{line}: the block is never closed")),
                    }
                }
                page.fences.push(fence);
                continue;
            }
            if let Some(title) = heading(content) {
                page.anchor(title);
            }
            page.inline(line, content);
        }
        Ok(page)
    }

    /// Adds the anchor of a heading; a second one of the same name is numbered.
    fn anchor(&mut self, title: &str) {
        let name = slug(title);
        let mut anchor = name.clone();
        for number in 1.. {
            if !self.anchors.contains(&anchor) {
                break;
            }
            anchor = format!("{name}-{number}");
        }
        self.anchors.push(anchor);
    }

    /// Adds the links and the code of a line.
    fn inline(&mut self, line: usize, content: &str) {
        let mut prose = String::new();
        for (number, part) in content.split('`').enumerate() {
            match number % 2 {
                0 => prose.push_str(part),
                _ => self.codes.push((line, part.to_owned())),
            }
        }
        for (at, _) in prose.match_indices("](") {
            if let Some(end) = prose[at..].find(')') {
                self.links.push((line, prose[at + 2..at + end].to_owned()));
            }
        }
    }
}

/// The title of a heading.
fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (line.len() > title.len() && title.starts_with(' ')).then_some(title.trim())
}

/// The anchor of a heading, as code hosts and mdBook make it: letters and digits stay, blanks become hyphens.
pub fn slug(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    title.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// What stands behind the three marks that open a block.
fn opening(line: usize, info: &str) -> Result<Fence, String> {
    let mut words = split(info)?.into_iter();
    let language = words.next().unwrap_or_default();
    let options = words.map(|word| match word.split_once('=') {
        Some((key, value)) => (key.to_owned(), value.to_owned()),
        None => (word, String::new()),
    });
    Ok(Fence { line, language, options: options.collect(), text: String::new() })
}

/// Words between blanks; quotation marks hold blanks together, and are taken away.
fn split(info: &str) -> Result<Vec<String>, String> {
    let mut words = vec![String::new()];
    for (number, part) in info.trim().split('"').enumerate() {
        if number % 2 == 1 {
            words.last_mut().expect("one at least").push_str(part);
            continue;
        }
        for (index, word) in part.split(' ').enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().expect("one at least").push_str(word);
        }
    }
    if info.matches('"').count() % 2 == 1 {
        return Err(format!("`{info}`: a quotation mark is missing"));
    }
    words.retain(|word| !word.is_empty());
    Ok(words)
}
