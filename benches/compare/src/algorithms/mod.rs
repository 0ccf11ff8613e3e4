//! Has the algorithms of percent codecs with SIMD that cannot be linked from Rust, written anew.
//!
//! Each module lists the differences from the published code, which make an algorithm faster or correct. All algorithms
//! give the answers of simdpct in the default mode, and keep malformed escapes.

mod ada459;
mod simdenc;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::mem::MaybeUninit;

use benchkit::{Contender, Needs, Role, Verb, contender};

/// Writes the answer for the first slice to the second, which must have [`most`] bytes, and returns its length. The CPU must have the
/// instruction set that the algorithm needs.
type Kernel = unsafe fn(&[u8], &mut [MaybeUninit<u8>]) -> usize;

/// An algorithm that this CPU can run.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// The name of the contender.
    pub name: &'static str,
    needs: Needs,
    verb: Verb,
    kernel: Kernel,
}

/// The bytes that a kernel may write after its answer.
const SLACK: usize = 64;

/// Returns the capacity that a kernel needs for the answer to an input of `len` bytes.
fn most(verb: Verb, len: usize) -> usize {
    let answer = if verb == Verb::Encode { 3 * len } else { len };
    answer + SLACK
}

impl Algorithm {
    /// Appends the answer for `input` to `out`.
    pub fn append(&self, input: &[u8], out: &mut Vec<u8>) {
        out.reserve(most(self.verb, input.len()));
        // SAFETY: `available` returns only algorithms whose instruction set the CPU has, and `reserve` made the spare capacity at least
        // `most` bytes.
        let written = unsafe { (self.kernel)(input, out.spare_capacity_mut()) };
        // SAFETY: The kernel has initialised the first `written` bytes of the spare capacity.
        unsafe { out.set_len(out.len() + written) };
    }
}

/// Returns the algorithms for `verb` that this CPU can run.
pub fn available(verb: Verb) -> Vec<Algorithm> {
    let mut found = Vec::new();
    let mut add = |name, needs, has: bool, of, kernel: Kernel| {
        found.extend((has && of == verb).then_some(Algorithm { name, needs, verb, kernel }));
    };
    use Verb::{Decode, Encode};
    #[cfg(target_arch = "x86_64")]
    {
        use Needs::{Avx2, Avx512};
        let avx2 = x86::has_avx2();
        let avx512 = x86::has_avx512();
        add("algorithm of ada#459, AVX-512", Avx512, avx512, Decode, ada459::decode_avx512);
        add("algorithm of ada#459, AVX2", Avx2, avx2, Decode, ada459::decode_avx2);
        for (of, with_avx512, with_avx2) in [
            (Encode, simdenc::encode_avx512 as Kernel, simdenc::encode_avx2 as Kernel),
            (Decode, simdenc::decode_avx512, simdenc::decode_avx2),
        ] {
            add("algorithm of simdenc, AVX-512", Avx512, avx512, of, with_avx512);
            add("algorithm of simdenc, AVX2", Avx2, avx2, of, with_avx2);
        }
    }
    #[cfg(target_arch = "aarch64")]
    add("algorithm of ada#459, NEON", Needs::Neon, true, Decode, ada459::decode_neon);
    found
}

/// Returns the algorithms as contenders, one group for each. They append to a reused buffer, as simdpct does.
pub fn algorithms(verb: Verb) -> Vec<Vec<Contender>> {
    let group = |algorithm: Algorithm| {
        let role = Role::Algorithm(algorithm.needs);
        vec![contender!(role, algorithm.name, "append to a Vec with capacity", |input, buffers| {
            buffers.bytes.clear();
            algorithm.append(input.as_bytes(), &mut buffers.bytes);
            &buffers.bytes
        })]
    };
    available(verb).into_iter().map(group).collect()
}
