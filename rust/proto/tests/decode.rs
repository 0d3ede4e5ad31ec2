// SPDX-License-Identifier: GPL-2.0

//! What the `decode` example says of known packets.

#[path = "../examples/common/hex.rs"]
#[expect(dead_code, reason = "used by `words` in part")]
mod hex;
#[path = "support/vectors.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod vectors;
#[path = "../examples/common/words.rs"]
mod words;

#[test]
fn generated_packets_in_words() {
    // Names that differ in the length of the data only say nothing new.
    let told = |name: &str| !name.contains("rc-send-only-") || name.ends_with("-5");
    let lines: Vec<String> = vectors::generated()
        .iter()
        .filter(|vector| told(&vector.name))
        .map(|vector| {
            let words = words::describe(&vector.packet).unwrap();
            format!("{}\n    {words}", vector.name)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn damaged_packets_in_words() {
    let vectors = vectors::generated();
    let good = &vectors
        .iter()
        .find(|v| v.name.ends_with("-5"))
        .unwrap()
        .packet;
    let damaged = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        words::describe(&packet).unwrap_or_else(|reason| format!("not RoCEv2: {reason}"))
    };
    let lines = [
        damaged(40, 0),
        damaged(28, 0x15),
        damaged(28, 0x0c),
        damaged(29, 0x01),
        damaged(28, 0x13),
        damaged(0, 0x46),
        damaged(0, 0x55),
        damaged(3, 0xff),
        damaged(6, 0x20),
        damaged(9, 6),
        damaged(23, 0),
        damaged(25, 0),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}
