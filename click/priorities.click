// SPDX-License-Identifier: GPL-2.0-or-later
//
// An IPv4 router of two interfaces, a and b, with strict priorities towards b by DSCP (RFC 2474): EF and ARP before AF, AF before all others.
// Under overload the lower ones starve: what AF offers beyond the rate, best effort pays, and what EF does, both.
//
// The queues do their work only where the bottleneck is: RATE is what may leave by b, in bits of whole Ethernet frames a second, and
// has to be a little less than what the link behind b carries (click/README.md tells why).
//
// Takes for each interface X: X_DEV, X_IP, X_ETH, X_NET; RATE; QUEUE: frames that may wait in each class; ROUTES as ip-router.click.
define($MTU 1500, $RATE 1900kbps, $QUEUE 100);

AddressInfo(a_net $A_NET, b_net $B_NET);

// ---- Routes: 0 this router, 1 a, 2 b, 3 broadcasts and multicasts (kept where they are), 4 no route

routes :: StaticIPLookup($A_IP/32 - 0, $B_IP/32 - 0, a_net:bcast/32 - 3, b_net:bcast/32 - 3,
    255.255.255.255/32 - 3, 0.0.0.0/8 - 3, 127.0.0.0/8 - 3, 224.0.0.0/4 - 3, 240.0.0.0/4 - 3,
    $A_NET - 1, $B_NET - 2, 0.0.0.0/0 - 4, ${ROUTES-});

routes[0] -> own :: IPClassifier(icmp type echo, -);
own[0] -> ICMPPingResponder -> routes;
own[1] -> Discard;
routes[3] -> local_only :: Counter -> Discard;
routes[4] -> DropBroadcasts -> ICMPError($A_IP, unreachable, net) -> routes;

// ---- One interface. In: packets to be sent, the next hop in their annotation. Out: 0 packets that came in, 1 frames to be sent

elementclass Interface { $device, $ip, $ethernet, $colour |
    FromDevice($device)
        -> HostEtherFilter($ethernet)
        -> kind :: Classifier(12/0800, 12/0806 20/0002, 12/0806 20/0001, -);
    kind[0] -> Paint($colour) -> Strip(14) -> CheckIPHeader -> [0]output;
    kind[2] -> ARPResponder($ip $ethernet) -> [1]output;
    kind[3] -> Discard;
    input -> DropBroadcasts -> FixIPSrc($ip) -> ttl :: DecIPTTL -> fragments :: IPFragmenter($MTU)
        -> arp :: ARPQuerier($ip, $ethernet) -> [1]output;
    kind[1] -> [1]arp;
    ttl[1] -> ICMPError($ip, timeexceeded) -> [0]output;
    fragments[1] -> ICMPError($ip, unreachable, needfrag, PMTU $MTU) -> [0]output;
}

a :: Interface($A_DEV, $A_IP, $A_ETH, 1);
routes[1] -> a -> routes;
a[1] -> a_queue :: Queue(200) -> ToDevice($A_DEV);

b :: Interface($B_DEV, $B_IP, $B_ETH, 2);
routes[2] -> b -> routes;

// The TOS byte is DSCP * 4: EF is 46; AF1x to AF4x are 001xx0 to 100xx0, of which xx is not 00 (those are CS1 to CS4).
b[1] -> class :: Classifier(12/0806, 15/b8%fc,
                            15/28%fc, 15/30%fc, 15/38%fc, 15/48%fc, 15/50%fc, 15/58%fc,
                            15/68%fc, 15/70%fc, 15/78%fc, 15/88%fc, 15/90%fc, 15/98%fc,
                            -);
class[0,1] -> ef :: Queue($QUEUE) -> [0]priority :: PrioSched;
class[2-13] -> af :: Queue($QUEUE) -> [1]priority;
class[14] -> be :: Queue($QUEUE) -> [2]priority;
priority -> shaper :: BandwidthRatedUnqueue($RATE, BURST_BYTES 1514) -> b_queue :: Queue(10) -> ToDevice($B_DEV);
