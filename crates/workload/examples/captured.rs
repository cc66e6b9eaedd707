//! What is in a capture: calls by kind and by process, call stacks by how often they occur, innermost frame first.
//!
//! `cargo run --example captured -- FILE [STACKS]`

use std::collections::BTreeMap;
use std::path::Path;
use workload::capture::Capture;

fn main() -> Result<(), workload::WorkloadError> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "data/captures/sqlite.capture".into());
    let shown = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(3);
    let capture = Capture::open(Path::new(&path))?;
    let contexts = capture.contexts();
    let (mut ops, mut programs) = (BTreeMap::new(), BTreeMap::new());
    let mut stacks = vec![0u64; capture.stacks.len()];
    for event in &capture.events {
        *ops.entry(event.op.name()).or_insert(0u64) += 1;
        let stack = &capture.stacks[event.stack as usize];
        let of = programs.entry(&capture.processes[event.process as usize].name).or_insert((0u64, 0u64));
        *of = (of.0 + 1, of.1 + u64::from(!stack.is_whole));
        stacks[event.stack as usize] += 1;
    }
    println!("{:?}\n{ops:?}", capture.totals);
    for (name, (calls, cut)) in programs {
        println!("{name}: {calls} calls, {cut} with a stack that is cut");
    }
    println!("{} stacks, {} with the context of another one", stacks.len(), capture.ambiguous());
    let mut order: Vec<usize> = (0..stacks.len()).collect();
    order.sort_by_key(|&stack| (capture.stacks[stack].is_whole, std::cmp::Reverse(stacks[stack])));
    for stack in order.into_iter().take(shown) {
        let is_whole = capture.stacks[stack].is_whole;
        println!("{} calls, context {:08x}, whole: {is_whole}", stacks[stack], contexts[stack]);
        for (module, address) in &capture.stacks[stack].frames {
            println!("    {}+{address:#x}", capture.modules[*module as usize].name);
        }
    }
    Ok(())
}
