//! Helpers for tests: run the binary, compare results, and generate random input.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The commands of `pct`.
pub const VERBS: &str = "encode decode normalize split get join edit resolve iri uri form top dedup check audit \
    explain route sets info generate";

/// The result of a run of the binary: its output, its messages and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub out: Vec<u8>,
    pub err: String,
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
}

impl Run {
    /// Returns the output as text.
    #[track_caller]
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).expect("the output is text")
    }

    /// Checks the messages and the exit code.
    #[track_caller]
    pub fn says(&self, err: &str, code: i32) {
        assert_eq!((self.err.as_str(), self.code), (err, Some(code)));
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            out: output.stdout,
            err: String::from_utf8(output.stderr).expect("messages are text"),
            code: output.status.code(),
        }
    }
}

/// The arguments of a run: a list, or a text in which one or more blanks separate them.
pub trait Args {
    fn list(&self) -> Vec<&str>;
}

impl Args for str {
    fn list(&self) -> Vec<&str> {
        self.split(' ').filter(|arg| !arg.is_empty()).collect()
    }
}

impl Args for String {
    fn list(&self) -> Vec<&str> {
        self.as_str().list()
    }
}

impl Args for [&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Args for [&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Args for Vec<&str> {
    fn list(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<A: Args + ?Sized> Args for &A {
    fn list(&self) -> Vec<&str> {
        (**self).list()
    }
}

/// Returns a command that runs the binary with `args` and connects all its streams to pipes.
pub fn command(args: &(impl Args + ?Sized)) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pct"));
    command.args(args.list()).env_remove("SIMDPCT_TIER").env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the binary with `args`, and writes `input` to its stdin, `chunk` bytes at a time.
pub fn run_in_chunks(args: &(impl Args + ?Sized), input: &[u8], chunk: usize) -> Run {
    output(command(args).spawn().expect("the binary starts"), input, chunk).into()
}

/// Runs the binary with `args` and with `input` on stdin.
pub fn run(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> Run {
    run_in_chunks(args, input.as_ref(), usize::MAX)
}

/// Runs the binary, and returns its output as text, whether or not it succeeds.
#[track_caller]
pub fn printed(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> String {
    run(args, input).text()
}

/// Runs the binary, checks that it succeeds without messages, and returns its output.
#[track_caller]
pub fn ok(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> Vec<u8> {
    let Run { out, err, code } = run(args, input);
    assert_eq!((err.as_str(), code), ("", Some(0)), "pct {:?}", args.list());
    out
}

/// Runs the binary, checks that it succeeds without messages, and returns its output as text.
#[track_caller]
pub fn text(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> String {
    String::from_utf8(ok(args, input)).expect("the output is text")
}

/// Runs the binary, checks that it succeeds, and returns its output. Its messages, such as those about unreadable records, are ignored.
#[track_caller]
pub fn done(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> Vec<u8> {
    let Run { out, err, code } = run(args, input);
    assert_eq!(code, Some(0), "pct {:?}: {err}", args.list());
    out
}

/// Like [`done`], and returns the output as text.
#[track_caller]
pub fn done_text(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>) -> String {
    String::from_utf8(done(args, input)).expect("the output is text")
}

/// Runs the binary, and checks that it writes nothing, exits with 2, and has a message that contains `words`.
#[track_caller]
pub fn refused(args: &(impl Args + ?Sized), input: impl AsRef<[u8]>, words: &str) {
    let Run { out, err, code } = run(args, input);
    assert_eq!((out.len(), code), (0, Some(2)), "pct {:?}: {err}", args.list());
    assert!(err.contains(words), "pct {:?}: {err}", args.list());
}

/// Creates a file with this name and content. It exists as long as the folder that is returned with its path.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    fs::write(&path, content).expect("the file can be written");
    (dir, path)
}

/// Returns a line of an access log in the combined format with this request and referrer.
pub fn access(request: &str, referrer: &str) -> String {
    format!("192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"{request}\" 200 12 \"{referrer}\" \"ua\"\n")
}

/// Returns a new folder, and a function that returns the path of a name in it.
pub fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().to_owned();
    (dir, move |name| path.join(name).to_str().expect("the path is text").to_owned())
}

/// Returns the operating system's message for the error that opening `path` gives.
#[track_caller]
pub fn open_error(path: impl AsRef<Path>) -> String {
    let error = File::open(path).expect_err("the file cannot be opened").to_string();
    error.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Closes the stdin of `child`, waits for its end, and returns the result.
#[track_caller]
pub fn wait(child: Child) -> Run {
    output(child, b"", 1).into()
}

/// The time after which a child is killed, and its test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Writes `input` to the stdin of `child`, `chunk` bytes at a time, and returns the output and the status of the child.
/// After [`PATIENCE`], kills the child and fails.
#[track_caller]
pub fn output(mut child: Child, input: &[u8], chunk: usize) -> Output {
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A child that stops early closes the pipe, so the error is ignored: the caller checks the result of the run.
        std::thread::spawn(move || input.chunks(chunk).try_for_each(|chunk| stdin.write_all(chunk)));
    }
    let [stdout, stderr] = [reader(child.stdout.take()), reader(child.stderr.take())].map(|bytes| {
        bytes.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("the child did not close its output within {PATIENCE:?}");
        })
    });
    Output { status: exit_status(&mut child), stdout, stderr }
}

/// Reads `stream` in a thread, and sends its bytes when it ends.
fn reader(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            stream.read_to_end(&mut bytes).expect("the output can be read");
        }
        sender.send(bytes)
    });
    receiver
}

/// Waits for a child whose output nobody reads. After [`PATIENCE`], kills the child and fails.
#[track_caller]
pub fn exit_status(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(50);
    loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the child did not end within {PATIENCE:?}");
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(5));
    }
}

/// Panics if the bytes differ, and shows only the bytes around the first difference.
#[track_caller]
pub fn assert_same(what: &str, got: &[u8], wanted: &[u8]) {
    let at = got.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let near =
        |bytes: &[u8]| bytes[at.saturating_sub(20)..bytes.len().min(at + 20)].escape_ascii().to_string();
    assert!(
        got == wanted,
        "{what}: {} and {} bytes differ at {at}:\n got    {}\n wanted {}",
        got.len(),
        wanted.len(),
        near(got),
        near(wanted)
    );
}

/// Says which part of the tests is skipped, and why.
pub fn skipped(what: &str) {
    // The test runner captures `eprintln!`, and shows its output only for tests that fail.
    let _ = std::io::stderr().write_all(format!("\nSKIPPED {what}\n").as_bytes());
}

/// Runs `command` on `input`, and returns its output; `None` if the command is not installed.
pub fn tool(command: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut tool = Command::new(command[0]);
    let Ok(child) = tool.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        let test = std::thread::current();
        skipped(&format!("a part of {}: there is no {} here", test.name().unwrap_or("a test"), command[0]));
        return None;
    };
    let output = output(child, input, usize::MAX);
    assert!(output.status.success(), "{command:?}");
    Some(output.stdout)
}

/// Checks with Python's own modules that `out` is the right result of `mode` for `input`. Without Python, prints that
/// the check is skipped.
#[track_caller]
pub fn oracle(test: &str, mode: &[&str], input: &[u8], out: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (dir.path().join("before"), dir.path().join("after"));
    fs::write(&before, input).unwrap();
    fs::write(&after, out).unwrap();
    let python = Command::new("python3")
        .args(["-c", include_str!("oracle_records.py")])
        .args(mode)
        .args([before, after])
        .stderr(Stdio::piped())
        .spawn();
    let Ok(python) = python else { return skipped(&format!("{test}: there is no python3 here")) };
    let python = output(python, b"", 1);
    let message = String::from_utf8_lossy(&python.stderr);
    assert!(python.status.success(), "{message}");
}

/// A repeatable generator of pseudorandom numbers (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn pick<'a>(&mut self, words: &[&'a [u8]]) -> &'a [u8] {
        words[(self.next() % words.len() as u64) as usize]
    }

    /// Returns at least `len` bytes of random `words`.
    pub fn words(mut self, words: &[&[u8]], len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 64);
        while bytes.len() < len {
            bytes.extend_from_slice(self.pick(words));
        }
        bytes
    }

    /// Returns a table with the columns `id`, `url`, `other` and `last`, and 20,000 rows of up to five `cells`.
    pub fn table(mut self, cells: &[&[u8]], ends: &[&[u8]]) -> Vec<u8> {
        let mut table = b"id,url,\"other\",last\n".to_vec();
        for _ in 0..20_000 {
            let count = 1 + self.next() % 5;
            let row: Vec<_> = (0..count).map(|_| self.pick(cells)).collect();
            table.extend(row.join(&b','));
            table.extend_from_slice(self.pick(ends));
        }
        table
    }
}

/// Returns the words of `list`, between which are commas.
pub fn words_of(list: &[u8]) -> Vec<&[u8]> {
    list.split(|&byte| byte == b',').collect()
}

/// Returns at least `len` random bytes in which valid and malformed escapes, line ends and invalid UTF-8 are frequent.
pub fn tangle(seed: u64, len: usize) -> Vec<u8> {
    let words = words_of(
        b"https://example.org/,path,~a-b_c., ,+,&k=v,%,%2,%4,%zz,%41,%2f,%2F,%7e,%25,%2541,%0A,%0d,%00,\
        %C3%A9,%c3,\xC3\xA9,\xFF,\r,\n,\r\n,\0,\
        a much longer stretch in which nothing at all has to be escaped",
    );
    Numbers(seed).words(&words, len)
}
