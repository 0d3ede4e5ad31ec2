// SPDX-License-Identifier: GPL-2.0

//! Fields of structs of the ABI: bytes at places that the compiler knows to be inside.

/// Holds `AT` and `N` to a struct of `SIZE` bytes, when it is compiled.
struct Inside<const AT: usize, const N: usize, const SIZE: usize>;

impl<const AT: usize, const N: usize, const SIZE: usize> Inside<AT, N, SIZE> {
    const CHECKED: () = assert!(AT <= SIZE && N <= SIZE - AT, "a field beyond its struct");
}

/// The `N` bytes at `AT`.
#[inline(always)]
pub(crate) fn get<const AT: usize, const N: usize, const SIZE: usize>(raw: &[u8; SIZE]) -> [u8; N] {
    let () = Inside::<AT, N, SIZE>::CHECKED;
    match raw.get(AT..).and_then(|from| from.first_chunk()) {
        Some(field) => *field,
        None => [0; N],
    }
}

/// The `u32` at `AT`, in the machine's order as all of the ABI.
#[inline(always)]
pub(crate) fn get_u32<const AT: usize, const SIZE: usize>(raw: &[u8; SIZE]) -> u32 {
    u32::from_ne_bytes(get::<AT, 4, SIZE>(raw))
}

/// The `u64` at `AT`.
#[inline(always)]
pub(crate) fn get_u64<const AT: usize, const SIZE: usize>(raw: &[u8; SIZE]) -> u64 {
    u64::from_ne_bytes(get::<AT, 8, SIZE>(raw))
}

/// The byte at `AT`.
#[inline(always)]
pub(crate) fn get_u8<const AT: usize, const SIZE: usize>(raw: &[u8; SIZE]) -> u8 {
    let [byte] = get::<AT, 1, SIZE>(raw);
    byte
}

/// Puts bytes to `AT`.
#[inline(always)]
pub(crate) fn put<const AT: usize, const N: usize, const SIZE: usize>(
    raw: &mut [u8; SIZE],
    field: [u8; N],
) {
    let () = Inside::<AT, N, SIZE>::CHECKED;
    if let Some(place) = raw.get_mut(AT..).and_then(|from| from.first_chunk_mut()) {
        *place = field;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got() {
        let mut raw = [0; 12];
        put::<4, 8, 12>(&mut raw, 0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!(raw[..4], [0; 4]);
        assert_eq!(get_u64::<4, 12>(&raw), 0x0102_0304_0506_0708);
        let halves = [get_u32::<4, 12>(&raw), get_u32::<8, 12>(&raw)].map(u32::to_ne_bytes);
        assert_eq!(raw[4..], halves.concat());
        assert_eq!(get_u8::<11, 12>(&raw), raw[11]);
    }
}
