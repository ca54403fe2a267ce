// SPDX-License-Identifier: GPL-2.0-or-later
//
// A router with network address translation (NAPT, RFC 3022): hosts behind `inside` share the address of `outside`. Connections and pings
// go out; from outside comes in what answers them, ICMP errors about them included, and nothing else. Another configuration for a running
// router begins with no mappings: connections end with it.
//
// Takes for each interface X of INSIDE and OUTSIDE: X_DEV, X_IP, X_ETH, X_NET; GATEWAY: the next router outside, where there is one.
define($MTU 1500, $GATEWAY 0.0.0.0);

AddressInfo(inside_net $INSIDE_NET, outside_net $OUTSIDE_NET);

// ---- From inside: 0 this router, 1 inside itself and broadcasts, 2 outside

from_inside :: StaticIPLookup($INSIDE_IP/32 - 0, $OUTSIDE_IP/32 - 0, $INSIDE_NET - 1, 255.255.255.255/32 - 1, 0.0.0.0/8 - 1,
    127.0.0.0/8 - 1, 224.0.0.0/4 - 1, 240.0.0.0/4 - 1, outside_net:bcast/32 - 1, $OUTSIDE_NET - 2, 0.0.0.0/0 $GATEWAY 2);

from_inside[0] -> own :: IPClassifier(icmp type echo, -);
own[0] -> ICMPPingResponder -> to_inside :: Null;
own[1] -> Discard;
from_inside[1] -> local_only :: Counter -> Discard;

// ---- Mappings: input 0 from inside, 1 from outside; output 0 to outside, 1 to inside

sessions :: IPRewriter(pattern $OUTSIDE_IP 20000-59999# - - 0 1, drop);
pings :: ICMPPingRewriter(pattern $OUTSIDE_IP 0-65535# - - 0 1, drop);

from_inside[2] -> outgoing :: IPClassifier(ip proto tcp or ip proto udp, icmp type echo, -);
outgoing[0] -> [0]sessions;
outgoing[1] -> [0]pings;
outgoing[2] -> untranslated :: Counter -> Discard;

from_outside :: IPClassifier(dst host $OUTSIDE_IP and (ip proto tcp or ip proto udp), dst host $OUTSIDE_IP and icmp type echo-reply,
    dst host $OUTSIDE_IP and icmp, -);
from_outside[0] -> [1]sessions;
from_outside[1] -> [1]pings;
from_outside[2] -> errors :: ICMPRewriter(sessions pings) -> to_inside;
from_outside[3] -> refused :: Counter -> Discard;

sessions[0], pings[0] -> to_outside :: GetIPAddress(16) -> next_hop :: StaticIPLookup($OUTSIDE_NET - 0, 0.0.0.0/0 $GATEWAY 0);
sessions[1], pings[1] -> to_inside;

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

inside :: Interface($INSIDE_DEV, $INSIDE_IP, $INSIDE_ETH, 1);
inside -> from_inside;
to_inside -> GetIPAddress(16) -> inside;
inside[1] -> inside_queue :: Queue(200) -> ToDevice($INSIDE_DEV);

outside :: Interface($OUTSIDE_DEV, $OUTSIDE_IP, $OUTSIDE_ETH, 2);
outside -> from_outside;
next_hop -> outside;
outside[1] -> outside_queue :: Queue(200) -> ToDevice($OUTSIDE_DEV);
