//! Prints the values of a log: `cargo run --example find -- LOG FIELD... <access.log`.
//!
//! Each output line has the number of the record, the name of a field and its value. Bytes that are not printable ASCII
//! are escaped. Errors of records go to stderr.

use std::io::{self, BufRead};

use simdpct_records::{Field, Spec, Syntax};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [log, fields @ ..] = &names[..] else { return Err("usage: find LOG FIELD...".into()) };
    let spec: Spec = log.parse()?;
    let log = spec.log.ok_or("name a server or a layout")?;
    let fields: Option<Vec<Field>> = fields.iter().map(|name| Field::named(name)).collect();
    let mut syntax = Syntax::log(log, spec.wrapper, &fields.ok_or("no such field")?)?;
    let names = syntax.names();
    for (number, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line?;
        let (mut places, mut buffer) = (Vec::new(), Vec::new());
        if let Err(error) = syntax.find(&line, &mut places) {
            eprintln!("{}:{}: {}", number + 1, error.offset + 1, error.reason.0);
        }
        for place in &places {
            match place.value(&line, &mut buffer) {
                Ok(value) => println!("{} {}: {}", number + 1, names[place.index], value.escape_ascii()),
                Err(offset) => eprintln!("{}:{}: malformed escape", number + 1, offset + 1),
            }
        }
    }
    Ok(())
}
