// SPDX-License-Identifier: GPL-2.0-or-later
//
// The router of the mobile operations centre (MEOC): IPv4 between the incident area network (IAN, behind interface ian) and the
// back-haul (JAN, behind interface jan, a satellite terminal). RFC 1812 in the manner of Click's own IP router; what it leaves out is
// in README.md. For each interface X: X_DEV its name, X_IP and X_ETH its addresses, X_NET its network as address/length.
//
// JAN_RATE: what may leave towards the satellite, in bits of whole Ethernet frames (14-byte header, no FCS) a second. The terminal's
// return channel (2 Mbit/s) is the bottleneck, but stands behind an Ethernet: at a rate above the channel's, the terminal's queue, which
// knows no classes, would fill instead of those below. 5 % are left for the terminal's own encapsulation.
// ROUTES: more routes, each "net/length gateway port" with port 1 = ian, 2 = jan, separated by commas.
define($JAN_RATE 1900kbps, $MTU 1500);

AddressInfo(ian_net $IAN_NET, jan_net $JAN_NET);

// ---- Routes: 0 this router, 1 ian, 2 jan, 3 broadcasts and multicasts (kept where they are), 4 no route

routes :: StaticIPLookup($IAN_IP/32 - 0, $JAN_IP/32 - 0,
    ian_net:bcast/32 - 3, jan_net:bcast/32 - 3, 255.255.255.255/32 - 3, 0.0.0.0/8 - 3, 127.0.0.0/8 - 3, 224.0.0.0/4 - 3, 240.0.0.0/4 - 3,
    $IAN_NET - 1, $JAN_NET - 2, 0.0.0.0/0 - 4, ${ROUTES-});

arrived :: CheckIPHeader(BADSRC 0.0.0.0 255.255.255.255 ian_net:bcast jan_net:bcast) -> routes;
routes[3] -> local_only :: Counter -> Discard;
routes[4] -> DropBroadcasts -> no_route :: ICMPError($IAN_IP, unreachable, net) -> routes;

// ---- This router itself: answers echo requests, of more than one fragment too; offers no services

routes[0] -> IPReassembler -> own :: IPClassifier(icmp type echo, icmp, ip proto tcp or ip proto udp, -);
own[0] -> CheckICMPHeader -> ICMPPingResponder -> routes;
own[1] -> Discard;
own[2] -> ICMPError($IAN_IP, unreachable, port) -> routes;
own[3] -> ICMPError($IAN_IP, unreachable, protocol) -> routes;

// ---- What comes in at an interface: outputs 0 IP packets, 1 ARP replies, 2 answers to ARP requests

elementclass Arrivals { $device, $ip, $ethernet, $colour |
    FromDevice($device)
        -> HostEtherFilter($ethernet)
        -> kind :: Classifier(12/0800, 12/0806 20/0002, 12/0806 20/0001, -);
    kind[0] -> Paint($colour) -> Strip(14) -> [0]output;
    kind[1] -> [1]output;
    kind[2] -> ARPResponder($ip $ethernet) -> [2]output;
    kind[3] -> unknown :: Counter -> Discard;
}

// ---- What leaves by an interface: outputs 0 packets ready for ARP, 1 ICMP errors

elementclass Departures { $ip, $colour, $mtu |
    input -> DropBroadcasts
        -> back :: PaintTee($colour)
        -> options :: IPGWOptions($ip)
        -> FixIPSrc($ip)
        -> ttl :: DecIPTTL
        -> fragmenter :: IPFragmenter($mtu)
        -> [0]output;
    back[1] -> ICMPError($ip, redirect, host) -> [1]output;
    options[1] -> ICMPError($ip, parameterproblem) -> [1]output;
    ttl[1] -> ICMPError($ip, timeexceeded) -> [1]output;
    fragmenter[1] -> ICMPError($ip, unreachable, needfrag, PMTU $mtu) -> [1]output;
}

// ---- Incident area

ian :: Arrivals($IAN_DEV, $IAN_IP, $IAN_ETH, 1);
ian_arp :: ARPQuerier($IAN_IP, $IAN_ETH);
ian_queue :: Queue(200) -> ToDevice($IAN_DEV);

ian[0] -> arrived;
ian[1] -> [1]ian_arp;
ian[2] -> ian_queue;
routes[1] -> ian_out :: Departures($IAN_IP, 1, $MTU) -> [0]ian_arp -> ian_queue;
ian_out[1] -> routes;

// ---- Back-haul: strict priority by DSCP (RFC 2474), then the shaper

jan :: Arrivals($JAN_DEV, $JAN_IP, $JAN_ETH, 2);
jan_arp :: ARPQuerier($JAN_IP, $JAN_ETH);

// The TOS byte is DSCP * 4. Best effort: DSCP 0, CS1 and LE (RFC 8622).
jan_class :: Classifier(12/0806, 15/b8%fc,             // ARP, EF
                        15/88%fc, 15/90%fc, 15/98%fc,           // AF41, AF42, AF43
                        15/00%fc, 15/20%fc, 15/04%fc,           // best effort, CS1, LE
                        -);                                     // all other classes

// In packets. EF: a burst of 50 voice frames of 214 bytes waits 45 ms at the most; AF4x: a key frame of 150 kB; the others: 0.6 s of
// full-size frames.
jan_ef :: Queue(50);
jan_af4 :: Queue(100);
jan_cs :: Queue(100);
jan_be :: Queue(100);

jan[0] -> arrived;
jan[1] -> [1]jan_arp;
jan[2] -> jan_class;
routes[2] -> jan_out :: Departures($JAN_IP, 2, $MTU) -> [0]jan_arp -> jan_class;
jan_out[1] -> routes;

jan_class[0,1] -> jan_ef;
jan_class[2,3,4] -> jan_af4;
jan_class[5,6,7] -> jan_be;
jan_class[8] -> jan_cs;

jan_priority :: PrioSched;
jan_ef -> [0]jan_priority;
jan_af4 -> [1]jan_priority;
jan_cs -> [2]jan_priority;
jan_be -> [3]jan_priority;

// A token bucket of one full-size frame: a packet that finds the link free leaves at once, and idling earns no more than that frame.
// BandwidthShaper would save up a second of credit; LinkUnqueue would hold each packet for its own transmission time (README.md).
jan_priority -> jan_shaper :: BandwidthRatedUnqueue($JAN_RATE, BURST_BYTES 1514) -> jan_queue :: Queue(10) -> ToDevice($JAN_DEV);
