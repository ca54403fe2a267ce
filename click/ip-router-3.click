// SPDX-License-Identifier: GPL-2.0-or-later
//
// An IPv4 router of three interfaces, a, b and c; with more of them add to each of the lists below: ARP, header check, TTL, fragments, and the ICMP errors that hosts need (time
// exceeded, net unreachable, fragmentation needed). It answers pings at its own addresses.
//
// Takes for each interface X: X_DEV, X_IP, X_ETH, X_NET. ROUTES: more routes, "net/length gateway port" with port 1 = a, 2 = b, 3 = c,
// separated by commas. QUEUE: frames that may wait for each interface.
define($MTU 1500, $QUEUE 200);

AddressInfo(a_net $A_NET, b_net $B_NET, c_net $C_NET);

// ---- Routes: 0 this router, 1 a, 2 b, 3 c, 4 broadcasts and multicasts (kept where they are), 5 no route

routes :: StaticIPLookup($A_IP/32 - 0, $B_IP/32 - 0, $C_IP/32 - 0, a_net:bcast/32 - 4, b_net:bcast/32 - 4, c_net:bcast/32 - 4,
    255.255.255.255/32 - 4, 0.0.0.0/8 - 4, 127.0.0.0/8 - 4, 224.0.0.0/4 - 4, 240.0.0.0/4 - 4,
    $A_NET - 1, $B_NET - 2, $C_NET - 3, 0.0.0.0/0 - 5, ${ROUTES-});

routes[0] -> own :: IPClassifier(icmp type echo, -);
own[0] -> ICMPPingResponder -> routes;
own[1] -> Discard;
routes[4] -> local_only :: Counter -> Discard;
routes[5] -> DropBroadcasts -> ICMPError($A_IP, unreachable, net) -> routes;

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
a[1] -> a_queue :: Queue($QUEUE) -> ToDevice($A_DEV);

b :: Interface($B_DEV, $B_IP, $B_ETH, 2);
routes[2] -> b -> routes;
b[1] -> b_queue :: Queue($QUEUE) -> ToDevice($B_DEV);

c :: Interface($C_DEV, $C_IP, $C_ETH, 3);
routes[3] -> c -> routes;
c[1] -> c_queue :: Queue($QUEUE) -> ToDevice($C_DEV);
