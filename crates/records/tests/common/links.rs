//! Makes random links of HTML, and checks that their URLs can be written back and replaced.

use simdpct_records::html::{Finder, Link};
use simdpct_records::{Editor, Form};

use super::Random;

const WORDS: &[&[u8]] = &[
    b"a",
    b"&amp;",
    b"&",
    b"&copy",
    b"=",
    b";",
    b"&#38;",
    b" ",
    b",",
    b"\"",
    b"'",
    b"<",
    b">",
    b"\n",
    b"\xC3\xA9",
    b"\xE9",
    b"(",
    b")",
    b"url=",
    b"/",
    b"1x",
    b"&ngE;",
];

const FRAMES: [[&str; 2]; 8] = [
    ["<a href=\"", "\">"],
    ["<a href='", "'>"],
    ["<a href=", ">"],
    ["<img srcset=\"", "\" src=z>"],
    ["<a ping='", "' href=z>"],
    ["<meta charset=windows-1251><applet archive='", "' code=x>"],
    ["<meta http-equiv=refresh content=\"1;url=", "\">"],
    ["<meta http-equiv=refresh content=\"1;", "\">"],
];

/// Returns the URLs of `input`, which arrives in pieces of `size` bytes.
pub fn links(input: &[u8], size: usize) -> Result<Vec<Link>, (usize, String)> {
    let (mut finder, mut found, mut read) = (Finder::new(0), Vec::new(), 0);
    while read < input.len() {
        read = input.len().min(read + size);
        finder.push(0, &input[..read])?;
        finder.take(input, 0, finder.done(), &mut found);
    }
    finder.end(0, input)?;
    finder.take(input, 0, input.len(), &mut found);
    Ok(found)
}

/// Returns `input` with `value` as the URL of `link`, or the offset in `value` of the byte that cannot be written.
pub fn edit(input: &[u8], link: &Link, value: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let mut editor = Editor::new(input, 0, Form::Whole, &mut out);
    editor.begin(link.tag.clone());
    editor.put(&link.place, value)?;
    editor.end(1, link.tag.end);
    editor.copy_to(input.len());
    Ok(out)
}

/// Writes a URL of a random document back, then replaces it, and checks that all other URLs stay. Returns whether it was replaced.
pub fn check(random: &mut Random) -> bool {
    let [before, after] = FRAMES[random.below(FRAMES.len())];
    let text: Vec<u8> = (0..random.below(6)).flat_map(|_| random.pick(WORDS).to_vec()).collect();
    let input = [before.as_bytes(), &text, after.as_bytes()].concat();
    let Ok(found) = links(&input, 1000) else { return false };
    if found.is_empty() {
        return false;
    }
    let number = random.below(found.len());
    let link = &found[number];
    let mut buffer = Vec::new();
    let value = link.place.value(&input[link.tag.clone()], &mut buffer).unwrap().to_vec();
    assert_eq!(edit(&input, link, &value), Ok(input.clone()));
    let new: Vec<u8> = (0..random.below(4)).flat_map(|_| random.pick(WORDS).to_vec()).collect();
    let Ok(out) = edit(&input, link, &new) else { return false };
    let context = || format!("{} became {}", input.escape_ascii(), out.escape_ascii());
    let again = links(&out, 1000).unwrap();
    assert_eq!(again.len(), found.len(), "{}", context());
    for (index, (old, now)) in found.iter().zip(&again).enumerate() {
        let tag = &out[now.tag.clone()];
        if index == number {
            assert_eq!(now.place.value(tag, &mut buffer), Ok(&new[..]), "{}", context());
        } else {
            assert_eq!(now.place.raw(tag), old.place.raw(&input[old.tag.clone()]), "{}", context());
        }
    }
    true
}
