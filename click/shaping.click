// SPDX-License-Identifier: GPL-2.0-or-later
//
// An IPv4 router of two interfaces, a and b, that lets only so much leave by each: a token bucket of one full-size frame, so that idling
// earns no burst, and a queue before it. What finds no room in the queue is lost (a_queue.drops, b_queue.drops).
//
// Takes for each interface X: X_DEV, X_IP, X_ETH, X_NET; A_RATE, B_RATE: bits of whole Ethernet frames a second that may leave by it;
// QUEUE: frames that may wait; ROUTES as ip-router.click. The rates are handlers, too: a_shaper.rate, b_shaper.rate.
define($MTU 1500, $A_RATE 10Mbps, $B_RATE 2Mbps, $QUEUE 100);

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
a[1] -> a_queue :: Queue($QUEUE)
    -> a_shaper :: BandwidthRatedUnqueue($A_RATE, BURST_BYTES 1514) -> Queue(10) -> ToDevice($A_DEV);

b :: Interface($B_DEV, $B_IP, $B_ETH, 2);
routes[2] -> b -> routes;
b[1] -> b_queue :: Queue($QUEUE)
    -> b_shaper :: BandwidthRatedUnqueue($B_RATE, BURST_BYTES 1514) -> Queue(10) -> ToDevice($B_DEV);
