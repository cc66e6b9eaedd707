//! Which system calls stop: a program for the kernel's filter (seccomp). All others run at full speed.

use super::calls::{ADDRESSED, PLAIN, When};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Where the kernel has the number of the call, the architecture, and the low half of an argument (`seccomp_data`).
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// Numbers from here on are those of programs with 32-bit pointers (x32), which have a layout of their own.
#[cfg(target_arch = "x86_64")]
const X32_FROM: u32 = 0x4000_0000;

const fn step(code: u32, k: u32, (jt, jf): (u8, u8)) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

const fn load(at: u32) -> libc::sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, (0, 0))
}

const fn end(with: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, with, (0, 0))
}

/// The program. Jumps are over one or a few steps, since each call has its own end.
pub fn program() -> Vec<libc::sock_filter> {
    let equals = |k, jumps| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k, jumps);
    let has_bit = |k, jumps| step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, k, jumps);
    let (stop, allow) = (end(libc::SECCOMP_RET_TRACE), end(libc::SECCOMP_RET_ALLOW));
    let mut program = vec![load(ARCHITECTURE_AT), equals(ARCHITECTURE, (1, 0)), allow, load(NUMBER_AT)];
    // Numbers below that are the usual ones.
    #[cfg(target_arch = "x86_64")]
    program.extend([step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_FROM, (0, 1)), allow]);
    for &call in PLAIN {
        program.extend([equals(call as u32, (0, 1)), stop]);
    }
    for &When { call, argument, any } in ADDRESSED {
        let argument = load(ARGUMENTS_AT + 8 * argument);
        program.extend([equals(call as u32, (0, 4)), argument, has_bit(any, (0, 1)), stop, load(NUMBER_AT)]);
    }
    program.push(allow);
    program
}
