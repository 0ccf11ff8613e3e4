//! Loads of fewer than 64 bytes that read only inside the input.

/// Returns up to seven bytes as a little-endian word.
#[inline(always)]
pub(super) fn word(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * (bytes.len() & 7) - 32);
    }
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        _ => 0,
    }
}

/// Returns up to 15 bytes as two little-endian words.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn words(bytes: &[u8]) -> [u64; 2] {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        [
            u64::from_le_bytes(*first),
            u64::from_le_bytes(*last).unbounded_shr(128 - 8 * (bytes.len() & 15) as u32),
        ]
    } else {
        [word(bytes), 0]
    }
}

/// A part of a short input for one register, and the indices of a shuffle that moves its bytes to their lanes. Lanes after the input have
/// indices above 15.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Quarter<'a> = (&'a [u8; 16], &'a [u8; 16]);

/// Returns the quarters of a block for an input of 16 to 63 bytes. Quarters overlap, so that each is inside the input.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn quarters(bytes: &[u8]) -> Option<[Quarter<'_>; 4]> {
    static INDICES: [u8; 80] = {
        let mut indices = [0xFF; 80];
        let mut i = 0;
        while i < 16 {
            indices[i] = i as u8;
            i += 1;
        }
        indices
    };

    let last = bytes.len().checked_sub(16)?;
    let mut quarters = [(bytes.first_chunk()?, INDICES.first_chunk()?); 4];
    for (i, quarter) in quarters.iter_mut().enumerate() {
        let from = last.min(16 * i);
        *quarter = (bytes[from..].first_chunk()?, INDICES[(16 * i - from) & 63..].first_chunk()?);
    }
    Some(quarters)
}
