// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry_frame.h"

#include "big_endian.h"

namespace netboxit
{

namespace
{

constexpr std::array<std::uint8_t, 6> NEAREST_BRIDGE{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
/// Locally administered: a netbox has no address.
constexpr std::array<std::uint8_t, 6> SOURCE{0x02, 0x4e, 0x42, 0x00, 0x00, 0x01};
/// A protocol with an EtherType for experiments says which one it is (IEEE 802-2014, 9.2.3).
constexpr std::uint16_t MAGIC = 0x4e42;
constexpr std::uint8_t VERSION = 1;
constexpr std::size_t SHORTEST_FRAME = 60; ///< IEEE 802.3, 4A.4.2, without FCS
constexpr std::int64_t NS_PER_US = 1000;

/// Data items of DLEP (RFC 8175, section 13), whose values all have 64 bits here.
enum class Item : std::uint16_t
{
    CurrentDataRateReceive = 14,
    CurrentDataRateTransmit = 15,
    Latency = 16, ///< microseconds
};

constexpr unsigned VALUE_BYTES = 8;

void Put(BigEndianWriter& writer, Item item, std::uint64_t value)
{
    writer.Put(static_cast<std::uint16_t>(item), 2);
    writer.Put(VALUE_BYTES, 2);
    writer.Put(value, VALUE_BYTES);
}

} // namespace

std::vector<std::uint8_t> TelemetryFrame(const LinkState& state)
{
    BigEndianWriter writer;
    writer.Put(NEAREST_BRIDGE);
    writer.Put(SOURCE);
    writer.Put(ether_type::EXPERIMENT, 2);
    writer.Put(MAGIC, 2);
    writer.Put(VERSION, 1);
    writer.Put(3, 1);
    Put(writer, Item::CurrentDataRateReceive, state.receive);
    Put(writer, Item::CurrentDataRateTransmit, state.transmit);
    Put(writer, Item::Latency, static_cast<std::uint64_t>(state.latency / NS_PER_US));
    auto frame = writer.Written();
    frame.resize(std::max(frame.size(), SHORTEST_FRAME));
    return frame;
}

std::optional<LinkState> ReadTelemetryFrame(Bytes frame)
{
    BigEndianReader reader(frame);
    reader.Take(NEAREST_BRIDGE.size() + SOURCE.size());
    if (reader.Get(2) != ether_type::EXPERIMENT || reader.Get(2) != MAGIC || reader.Get(1) != VERSION)
    {
        return std::nullopt;
    }
    LinkState state;
    for (auto items = reader.Get(1); items > 0; --items)
    {
        const auto item = static_cast<Item>(reader.Get(2));
        if (const auto length = reader.Get(2); length != VALUE_BYTES)
        {
            reader.Take(length);
            continue;
        }
        const auto value = reader.Get64();
        switch (item)
        {
        case Item::CurrentDataRateReceive:
            state.receive = value;
            break;
        case Item::CurrentDataRateTransmit:
            state.transmit = value;
            break;
        case Item::Latency:
            state.latency = static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX / NS_PER_US)) * NS_PER_US;
            break;
        }
    }
    return reader.Good() ? std::optional(state) : std::nullopt;
}

} // namespace netboxit
