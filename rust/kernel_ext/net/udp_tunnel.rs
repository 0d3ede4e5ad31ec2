// SPDX-License-Identifier: GPL-2.0

//! Kernel UDP sockets whose datagrams go to a callback.
//!
//! C header: [`include/net/udp_tunnel.h`](srctree/include/net/udp_tunnel.h)

use super::{
    Net,
    NetDevice,
    SkBuff, //
};
use crate::bindings;
use core::ptr::{
    self,
    NonNull, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};

/// Bytes of a UDP header.
const UDP_HEADER_BYTES: usize = 8;

/// Takes the datagrams of a [`UdpTunnel`].
pub trait Receiver: Send + Sync + 'static {
    /// Takes one datagram, or several of a flow, that came in by `netdev`; the payload starts
    /// `offset` bytes into `skb` and takes up the rest of it: UDP has cut off what follows and
    /// checked the checksum.
    ///
    /// Several came as one packet, of this host or put together by a device: each has as many bytes
    /// as [`SkBuff::segment_bytes`] says, but the last may be shorter. The IP and UDP headers
    /// are those of the first, but for the lengths. Their number and sizes are the sender's
    /// choice: there may be thousands.
    ///
    /// A datagram of this host, which comes by the loopback device, counts as come in by the device
    /// that has the address which it was sent to.
    ///
    /// Context: softirq, under RCU.
    fn receive(&self, netdev: &NetDevice, skb: SkBuff, offset: usize);
}

/// Internet protocol of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6, not IPv4-mapped addresses.
    V6,
}

/// An open socket. Dropping it closes the socket and waits until no callback runs any more.
///
/// Context of the drop: process.
///
/// # Invariants
///
/// `sk` is a tunnel socket that is ours and whose user data is `receiver`'s pointer; `hook` is what
/// was given with it.
pub struct UdpTunnel<T: Receiver> {
    sk: NonNull<bindings::sock>,
    hook: *mut c_void,
    /// Kept for `encap_rcv_callback`.
    _receiver: Arc<T>,
}

// SAFETY: Kernel sockets may be released from any thread; the receiver is `Send` and `Sync`.
unsafe impl<T: Receiver> Send for UdpTunnel<T> {}
// SAFETY: As above; there are no methods on a shared reference.
unsafe impl<T: Receiver> Sync for UdpTunnel<T> {}

impl<T: Receiver> UdpTunnel<T> {
    /// Opens a socket in `net`, bound to `port` on all addresses of `family`.
    ///
    /// The namespace is not kept alive: close the socket no later than in an
    /// [`ExitHook`](super::ExitHook).
    ///
    /// Context: process, sleeps.
    ///
    /// # Errors
    ///
    /// `EADDRINUSE`; `EAFNOSUPPORT` or `EPFNOSUPPORT` where the kernel runs without `family`;
    /// `ENOMEM`.
    pub fn open(net: &Net, family: Family, port: u16, receiver: Arc<T>) -> Result<Self> {
        let family = match family {
            Family::V4 => bindings::AF_INET,
            Family::V6 => bindings::AF_INET6,
        };
        let (mut sk, mut hook) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: The namespace is valid, `sk` and `hook` may be written, and the user data stays
        // valid for as long as callbacks use it: `_receiver` is dropped a grace period after the
        // release.
        let err = unsafe {
            bindings::oxe_helper_udp_tunnel_open(
                net.as_ptr(),
                family as c_int,
                port,
                Arc::as_ptr(&receiver).cast_mut().cast(),
                Some(encap_rcv_callback::<T>),
                &mut sk,
                &mut hook,
            )
        };
        kernel::error::to_result(err)?;
        // INVARIANT: Just opened for us with that user data.
        Ok(Self {
            sk: NonNull::new(sk).ok_or(EINVAL)?,
            hook,
            _receiver: receiver,
        })
    }
}

impl<T: Receiver> Drop for UdpTunnel<T> {
    fn drop(&mut self) {
        // SAFETY: Ours by the type invariant. Clears the user data and takes the socket out of the
        // lookup tables.
        unsafe { bindings::oxe_helper_udp_tunnel_close(self.sk.as_ptr(), self.hook) };
        // SAFETY: Process context, as the type asks for. The release does not wait for callbacks
        // that have the user data already; they run under RCU.
        unsafe { bindings::synchronize_net() };
    }
}

/// # Safety
///
/// Only as the `encap_rcv` of a socket that [`UdpTunnel::open`] made.
unsafe extern "C" fn encap_rcv_callback<T: Receiver>(
    sk: *mut bindings::sock,
    skb: *mut bindings::sk_buff,
) -> c_int {
    let Some(skb) = NonNull::new(skb) else {
        return 0;
    };
    // SAFETY: UDP passes a valid packet, with its device and IP's notes, under RCU.
    let netdev = unsafe { bindings::oxe_helper_skb_input_dev(skb.as_ptr()) };
    // SAFETY: UDP passes a valid packet that is ours from here on.
    unsafe { bindings::oxe_helper_skb_detach(skb.as_ptr()) };
    // SAFETY: The return value 0 says that we took the packet over. UDP has one reference to it,
    // and it has no device and no route any more.
    let skb = unsafe { SkBuff::from_raw(skb) };
    // SAFETY: UDP calls this under RCU with a valid socket.
    let receiver = unsafe { bindings::oxe_helper_sk_user_data(sk) }.cast::<T>();
    // SAFETY: Null, or by the invariant of `UdpTunnel` a `T` that lives until a grace period after
    // the user data was cleared.
    let receiver = unsafe { receiver.as_ref() };
    if let (Some(receiver), Some(netdev)) = (receiver, NonNull::new(netdev)) {
        // SAFETY: The device that a packet came in by stays as long as the RCU critical section
        // that this runs in.
        let netdev = unsafe { NetDevice::from_raw(netdev) };
        receiver.receive(netdev, skb, UDP_HEADER_BYTES);
    }
    0
}
