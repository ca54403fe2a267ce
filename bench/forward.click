// SPDX-License-Identifier: GPL-2.0-or-later
//
// IPv4 forwarding from interface left to interface right and back, as much of RFC 1812 as the kernel does on its fast path. What is behind
// right answers no ARP: its MAC address is NEXT_ETH.
define($NEXT_ETH 02:00:00:00:02:00);

routes :: StaticIPLookup($LEFT_NET - 0, $RIGHT_NET - 1);

elementclass Forward { $device, $from, $to |
    input -> DecIPTTL -> EtherEncap(0x0800, $from, $to) -> Queue(1000) -> ToDevice($device);
}

FromDevice($LEFT_DEV) -> HostEtherFilter($LEFT_ETH) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader -> routes;
FromDevice($RIGHT_DEV) -> HostEtherFilter($RIGHT_ETH) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader -> routes;

routes[0] -> Forward($LEFT_DEV, $LEFT_ETH, $NEXT_ETH);
routes[1] -> Forward($RIGHT_DEV, $RIGHT_ETH, $NEXT_ETH);
