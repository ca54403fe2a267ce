// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_priority.h"

namespace netboxit
{

std::uint8_t UserPriority(std::uint8_t dscp)
{
    switch (dscp)
    {
    case 48: // CS6, network control
    case 56: // CS7, reserved for future network control
        return 7;
    case 46: // EF, telephony
    case 44: // VOICE-ADMIT
        return 6;
    case 40: // CS5, signalling
        return 5;
    case 34: // AF41 … AF43, multimedia conferencing
    case 36:
    case 38:
    case 32: // CS4, real-time interactive
    case 26: // AF31 … AF33, multimedia streaming
    case 28:
    case 30:
    case 24: // CS3, broadcast video
        return 4;
    case 18: // AF21 … AF23, low-latency data
    case 20:
    case 22:
        return 3;
    case 8: // CS1, low-priority data
    case 1: // LE (RFC 8622, Sect. 9)
        return 1;
    default: // AF1x, CS2, DF and everything unknown: best effort
        return 0;
    }
}

} // namespace netboxit
