// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ns3/mac48-address.h>

#include <cstdint>
#include <string>

namespace netboxit::stock
{

/// What EmuFdNetDeviceHelper would hand to an FdNetDevice: a raw packet socket on an interface. The helper itself starts a
/// program for it, at a path that exists only where ns-3 was built.
struct RawSocket
{
    int descriptor;
    ns3::Mac48Address address;
    std::uint16_t mtu;
};

/// Opens one; it takes CAP_NET_RAW. Whoever has it closes it: FdNetDevice does. Throws std::system_error.
RawSocket OpenRawSocket(const std::string& interface);

} // namespace netboxit::stock
