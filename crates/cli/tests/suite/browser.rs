//! A browser that nobody sees, driven as the W3C's WebDriver says, for pages that we write.

use crate::program::{folder, root};
use base64::Engine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What is missing where there is no browser, and how to get it.
const MISSING: &str =
    "no chromedriver to look at pages with; Debian: apt-get install chromium chromium-driver";

/// Where screenshots go: `target/screenshots`.
fn screenshots() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target").join("screenshots");
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub name: &'static str,
    pub size: [u32; 2],
    pub is_dark: bool,
}

/// All ways: on a desk and on a telephone, by day and by night.
pub const LOOKS: [Look; 4] = [
    Look { name: "desktop-light", size: [1400, 1000], is_dark: false },
    Look { name: "desktop-dark", size: [1400, 1000], is_dark: true },
    Look { name: "phone-light", size: [390, 844], is_dark: false },
    Look { name: "phone-dark", size: [390, 844], is_dark: true },
];

/// A browser with one page open at a time.
pub struct Browser {
    driver: Child,
    /// Where its one session is.
    session: String,
}

impl Browser {
    /// Starts it; `None`, with a message, where there is none. In CI that is a failure: pages that nobody looked at are
    /// not known to work.
    pub fn start() -> Option<Self> {
        let driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = driver else {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "{MISSING}");
            eprintln!("skipped: {MISSING}");
            return None;
        };
        let lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let port = line.split("successfully on port ").nth(1)?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let root = format!("http://127.0.0.1:{}", port.expect("chromedriver says its port"));
        // The superuser's browser needs leave to run without a sandbox; it opens our own files alone.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1400,1000",
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": { "args": arguments },
        } } });
        let opened = ask(&format!("{root}/session"), &wanted);
        let id = opened["sessionId"].as_str().expect("a session").to_owned();
        Some(Browser { driver, session: format!("{root}/session/{id}") })
    }

    fn post(&self, what: &str, body: &Value) -> Value {
        ask(&format!("{}/{what}", self.session), body)
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        let file = std::fs::canonicalize(file).expect("a page");
        self.post("url", &json!({ "url": format!("file://{}", file.display()) }));
    }

    /// What a piece of script gives in the page.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What the page has said on the console since it was last asked: errors and what its policy refused, too.
    pub fn console(&self) -> Vec<String> {
        self.log("browser").iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// What was asked for since then, of disk or network.
    pub fn requests(&self) -> Vec<String> {
        let events = self.log("performance");
        let events = events.iter().filter_map(|entry| serde_json::from_str(entry["message"].as_str()?).ok());
        events
            .filter(|event: &Value| event["message"]["method"] == "Network.requestWillBeSent")
            .map(|event| event["message"]["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &json!({ "type": kind })).as_array().cloned().unwrap_or_default()
    }

    /// Asks the browser's own tools for something that WebDriver does not know.
    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// From now on pages are as large, and of such colours.
    pub fn look(&self, look: Look) {
        let [width, height] = look.size;
        let scheme = if look.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Whether the page that is open is styled as for paper.
    pub fn show_print(&self, is_paper: bool) {
        self.devtools("Emulation.setEmulatedMedia", &json!({ "media": if is_paper { "print" } else { "" } }));
    }

    /// Whether scripts run in pages that are opened from now on.
    pub fn allow_scripts(&self, are_allowed: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": !are_allowed }));
    }

    /// Keeps a picture of what is seen, as `target/screenshots/<name>.png`.
    pub fn keep_screenshot(&self, name: &str) {
        let answer = ask_for(&format!("{}/screenshot", self.session));
        keep(&format!("{name}.png"), &answer);
    }

    /// Prints the page, keeps it as `target/screenshots/<name>.pdf`, and gives the file.
    pub fn print(&self, name: &str) -> Vec<u8> {
        let margin = json!({ "top": 1.1, "bottom": 1.1, "left": 1.1, "right": 1.1 });
        let paper = json!({ "page": { "width": 21.0, "height": 29.7 }, "margin": margin });
        keep(&format!("{name}.pdf"), &self.post("print", &paper))
    }

    /// Draws the mouse with its button down from one place in the window to another.
    pub fn drag(&self, from: [i64; 2], to: [i64; 2]) {
        let go = |[x, y]: [i64; 2]| json!({ "type": "pointerMove", "duration": 50, "x": x, "y": y });
        let (down, up) =
            (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
        let actions = [go(from), down, go(middle), go(to), up];
        self.post(
            "actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }),
        );
    }

    /// Presses a key.
    pub fn press(&self, key: &str) {
        let (down, up) =
            (json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key }));
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": [down, up] }] }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session; if that fails, both are killed anyway.
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Keeps a file that came as text, and gives its bytes.
fn keep(name: &str, text: &Value) -> Vec<u8> {
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(text.as_str().expect("text")).expect("base64");
    std::fs::write(screenshots().join(name), &bytes).expect("a place for screenshots");
    bytes
}

/// How many pages a file of PDF has.
pub fn pages_of(pdf: &[u8]) -> usize {
    // Objects of pages, not of their list, stand uncompressed in what Chromium writes.
    let text = String::from_utf8_lossy(pdf);
    text.match_indices("/Type /Page").filter(|(at, what)| !text[at + what.len()..].starts_with('s')).count()
}

/// Asks the driver for what it knows.
fn ask_for(address: &str) -> Value {
    let value: Value =
        ureq::get(address).call().expect("the driver answers").body_mut().read_json().expect("JSON");
    value["value"].clone()
}

/// Asks the driver, which must answer in success.
fn ask(address: &str, body: &Value) -> Value {
    let config = ureq::Agent::config_builder().http_status_as_error(false).build();
    let mut answer =
        ureq::Agent::new_with_config(config).post(address).send_json(body).expect("the driver answers");
    let value: Value = answer.body_mut().read_json().expect("JSON");
    assert!(answer.status().is_success(), "{address}: {value}");
    value["value"].clone()
}

/// Runs `scripts/browser.sh` where there are only these programs (name and script), as a user of that number.
#[cfg(unix)]
fn browser_script(name: &str, user: u32, programs: &[(&str, &str)]) -> (Option<i32>, String, String) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder(&format!("browser-script-{name}"));
    let program = |name: &str, text: &str| {
        let program = path.join(name);
        std::fs::write(&program, format!("#!/bin/bash\n{text}\n")).expect("written");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("made a program");
    };
    program("id", &format!("echo {user}"));
    programs.iter().for_each(|(name, text)| program(name, text));
    let script = root().join("scripts/browser.sh");
    let done = Command::new("/bin/bash").arg(script).current_dir(&path).env("PATH", &path).output();
    let done = done.expect("there is a shell");
    let asked = std::fs::read_to_string(path.join("asked")).unwrap_or_default();
    (done.status.code(), asked, String::from_utf8_lossy(&done.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn the_script_for_the_browser_installs_what_is_missing_and_checks_that_it_is_there() {
    const NOTHING: &str = "exit 0";
    const MAKE: &str = "for name in chromium chromedriver; do echo > $name; /bin/chmod +x $name; done";
    let fetch = |install: &str| {
        format!("echo \"$*\" >> asked\ncase \"$*\" in *update*) echo > lists;; *) {install};; esac")
    };
    let install = "-o DPkg::Lock::Timeout=120 install -y --no-install-recommends chromium chromium-driver\n";
    let update = "-o DPkg::Lock::Timeout=120 update\n";
    let both = [("chromedriver", NOTHING), ("google-chrome", NOTHING)];
    assert_eq!(browser_script("both", 0, &both).0, Some(0), "nothing to do, and nothing asked for");
    // A driver without a browser is not enough.
    let at_once = fetch(MAKE);
    for (name, there) in [("none", &[][..]), ("driver", &both[..1]), ("browser", &both[1..])] {
        let programs = [there, &[("apt-get", at_once.as_str())]].concat();
        let (code, asked, said) = browser_script(name, 0, &programs);
        assert_eq!((code, asked.as_str()), (Some(0), install), "{name}: {said}");
        let (code, asked, said) = browser_script(&format!("{name}-user"), 1000, &programs);
        assert_eq!((code, asked.as_str()), (Some(1), ""), "{name}: only the superuser installs");
        assert!(
            said.contains("apt-get install chromium chromium-driver") && said.contains("elsewhere"),
            "{said}"
        );
    }
    let told = |name: &str, install: &str| browser_script(name, 0, &[("apt-get", &fetch(install))]);
    let (code, asked, said) = told("old-lists", &format!("[ -e lists ] || exit 100; {MAKE}"));
    assert_eq!((code, asked), (Some(0), format!("{install}{update}{install}")), "{said}");
    let (code, asked, said) = told("no-such-package", "echo 'E: Unable to locate package' >&2; exit 100");
    assert_eq!((code, asked), (Some(1), format!("{install}{update}{install}")), "{said}");
    assert!(said.contains("Unable to locate") && said.contains("no chromedriver with a browser"), "{said}");
    // Lists that cannot be fetched as a whole may do.
    let broken = format!(
        "echo \"$*\" >> asked\ncase \"$*\" in *update*) echo > lists; exit 100;; *) \
                          [ -e lists ] || exit 100; {MAKE};; esac"
    );
    assert_eq!(browser_script("some-lists", 0, &[("apt-get", &broken)]).0, Some(0));
    let (code, _, said) = told("another-package", NOTHING);
    assert!(code == Some(1) && said.contains("no chromedriver with a browser"), "{said}");
    let (code, _, said) = browser_script("no-apt", 0, &[]);
    assert!(code == Some(1) && said.contains("of the same version"), "{said}");
}
