//! Detects the features of an x86 CPU with `cpuid`, which needs no `std`. "lab: NAME" names docs/lab/DATE-NAME.md.

#[cfg(target_arch = "x86")]
use core::arch::x86::{__cpuid_count, _xgetbv, CpuidResult};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};
use core::sync::atomic::{AtomicU16, Ordering};

/// The bit that is set once `ask` has returned the features.
const ASKED: u16 = 1 << 15;

/// Returns the bit of a feature by its name in the Rust reference. In a constant, an unknown name does not compile.
pub(super) const fn bit(feature: &str) -> u16 {
    match feature.as_bytes() {
        b"sse2" => 1 << 0,
        b"ssse3" => 1 << 1,
        b"popcnt" => 1 << 2,
        b"lzcnt" => 1 << 3,
        b"bmi1" => 1 << 4,
        b"bmi2" => 1 << 5,
        b"avx2" => 1 << 6,
        b"avx512f" => 1 << 7,
        b"avx512bw" => 1 << 8,
        b"avx512vbmi" => 1 << 9,
        b"avx512vbmi2" => 1 << 10,
        b"avx512vpopcntdq" => 1 << 11,
        _ => panic!("cpu.rs does not know this feature"),
    }
}

/// Reports whether the CPU has the feature of this bit and the system saves the registers that the feature needs. The CPU is
/// asked only once, because `cpuid` takes microseconds under a hypervisor (lab: ladders).
pub(super) fn has(bit: u16) -> bool {
    // Two threads that ask at the same time get the same answer, so the loads and stores need no ordering.
    static FOUND: AtomicU16 = AtomicU16::new(0);
    let mut found = FOUND.load(Ordering::Relaxed);
    if found == 0 {
        found = ask() | ASKED;
        FOUND.store(found, Ordering::Relaxed);
    }
    found & bit != 0
}

/// Asks the CPU for its features. Reports none in SGX, which forbids `cpuid`. Also reports none on targets without an
/// operating system: a kernel must save the registers of programs before it uses them. On both kinds of target, only
/// the build can enable tiers.
fn ask() -> u16 {
    if cfg!(any(target_env = "sgx", target_os = "none")) {
        return 0;
    }
    /// Gives the bit of a feature if the CPU has set `$bit` of `$register`, and otherwise zero.
    macro_rules! when {
        ($register:expr, $bit:literal, $feature:literal) => {
            if $register >> $bit & 1 != 0 { const { bit($feature) } } else { 0 }
        };
    }

    let last = cpuid(0).eax;
    if last < 1 {
        return 0;
    }
    let one = cpuid(1);
    let mut found = when!(one.edx, 26, "sse2") | when!(one.ecx, 9, "ssse3") | when!(one.ecx, 23, "popcnt");
    if cpuid(0x8000_0000).eax >= 0x8000_0001 {
        found |= when!(cpuid(0x8000_0001).ecx, 5, "lzcnt");
    }
    if last < 7 {
        return found;
    }
    let seven = cpuid(7);
    found |= when!(seven.ebx, 3, "bmi1") | when!(seven.ebx, 8, "bmi2");

    // Wide registers need a system that saves them. If the CPU has XSAVE and OSXSAVE, XCR0 tells which registers are saved.
    const XSAVE: u32 = 0b11 << 26;
    const AVX: u32 = 1 << 28;
    const SAVES_YMM: u64 = 0b110;
    const SAVES_ZMM: u64 = SAVES_YMM | 0b111 << 5;
    if one.ecx & (XSAVE | AVX) != XSAVE | AVX {
        return found;
    }
    // SAFETY: the check of `one.ecx` above shows XSAVE and OSXSAVE.
    let saved = unsafe { saved_registers() };
    if saved & SAVES_YMM == SAVES_YMM {
        found |= when!(seven.ebx, 5, "avx2");
    }
    // Rust's `avx512f` includes `fma` and `f16c`, so a CPU without these must not run code that enables it.
    const FMA_AND_F16C: u32 = 1 << 12 | 1 << 29;
    if saved & SAVES_ZMM == SAVES_ZMM && one.ecx & FMA_AND_F16C == FMA_AND_F16C {
        found |= when!(seven.ebx, 16, "avx512f")
            | when!(seven.ebx, 30, "avx512bw")
            | when!(seven.ecx, 1, "avx512vbmi")
            | when!(seven.ecx, 6, "avx512vbmi2")
            | when!(seven.ecx, 14, "avx512vpopcntdq");
    }
    found
}

/// Returns the registers that the system saves (XCR0).
///
/// # Safety
///
/// The CPU has XSAVE, and the system has enabled it (OSXSAVE).
#[target_feature(enable = "xsave")]
unsafe fn saved_registers() -> u64 {
    // SAFETY: the caller guarantees XSAVE and OSXSAVE, and register 0 exists with them.
    unsafe { _xgetbv(0) }
}

fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: the instruction exists on every x86 CPU that Rust has a target for. In SGX it is not allowed, and `ask` returns
    // before it calls this.
    #[allow(unused_unsafe, reason = "newer versions of Rust say that it is safe")]
    unsafe {
        __cpuid_count(leaf, 0)
    }
}
