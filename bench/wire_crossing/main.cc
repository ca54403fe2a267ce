// SPDX-License-Identifier: GPL-2.0-or-later
// wire-crossing CONFIGURATION send|receive COUNT GAP_US: one end of a wire, awake: it never sleeps, so that what is measured is
// the wire, and not how the kernel wakes a process. CONFIGURATION is a netbox's, of one station. The sender stamps each frame just before
// it hands it over, the receiver looks at the clock as soon as it has it; COUNT frames, GAP_US apart. The sender begins when there is a
// file "go" beside the configuration; the receiver prints "ready", then a line of JSON.
#include "configuration.h"
#include "histogram.h"
#include "loop.h"
#include "ports.h"
#include "realtime_thread.h"
#include "slots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace netboxit
{

namespace
{

using Clock = std::chrono::steady_clock;

/// While nothing is to be measured yet: real-time threads may only take so much of a core.
constexpr std::chrono::milliseconds NAP{1};
/// For the other end to come.
constexpr std::int64_t PATIENCE = 10'000'000'000;

/// The smallest frame, without FCS, and where its stamp is.
constexpr std::size_t LENGTH = 60;
constexpr std::size_t STAMP_AT = 14;
/// EtherType for local experiments (IEEE 802-2014, 9.2.4).
constexpr std::array<std::uint8_t, 2> ETHER_TYPE{0x88, 0xb5};

std::int64_t Now()
{
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

struct Arguments
{
    std::filesystem::path go;
    Configuration configuration;
    bool send;
    std::int64_t count;
    std::int64_t gap; ///< ns
};

std::int64_t Number(std::string_view text)
{
    std::int64_t number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number <= 0)
    {
        throw std::invalid_argument(std::string(text) + " is not a number above 0");
    }
    return number;
}

Arguments Read(std::span<char*> given)
{
    const std::string_view role = given.size() == 5 ? given[2] : "";
    if (role != "send" && role != "receive")
    {
        throw std::invalid_argument("usage: wire-crossing CONFIGURATION send|receive COUNT GAP_US");
    }
    const auto go = std::filesystem::path(given[1]).replace_filename("go");
    return {go, ReadConfiguration(ReadJson(given[1])), role == "send", Number(given[3]), Number(given[4]) * 1000};
}

void Send(Port& port, Slot& slot, const Arguments& arguments)
{
    slot.bytes = slot.room.first(LENGTH);
    std::ranges::fill(slot.room.first(LENGTH), std::uint8_t{0});
    std::ranges::fill(slot.room.first(6), std::uint8_t{0xff});
    std::ranges::copy(ETHER_TYPE, slot.room.begin() + 12);
    for (const auto end = Now() + PATIENCE; !std::filesystem::exists(arguments.go);)
    {
        if (Now() > end)
        {
            throw std::runtime_error("there is no file " + arguments.go.string());
        }
        std::this_thread::sleep_for(NAP);
    }
    auto due = Now();
    for (std::int64_t frame = 0; frame < arguments.count; ++frame, due += arguments.gap)
    {
        while (Now() < due)
        {
        }
        std::array<Departure, 1> departure{{{&slot, 0, false}}};
        const auto stamp = Now();
        std::memcpy(slot.room.data() + STAMP_AT, &stamp, sizeof stamp);
        port.Send(departure, 0);
    }
}

void Receive(Port& port, Slot& slot, const Arguments& arguments)
{
    Histogram crossings;
    std::array<Reception, 1> reception{{{&slot, 0}}};
    std::cout << "ready" << std::endl;
    bool begun = false;
    auto end = Now() + PATIENCE;
    while (crossings.Count() + 1 < static_cast<std::uint64_t>(arguments.count) && Now() < end)
    {
        if (port.Receive(reception) == 0)
        {
            if (!begun)
            {
                std::this_thread::sleep_for(NAP);
            }
            continue;
        }
        const auto now = Now();
        const auto bytes = slot.bytes;
        if (bytes.size() >= LENGTH && std::ranges::equal(bytes.subspan(12, 2), ETHER_TYPE))
        {
            std::int64_t stamp;
            std::memcpy(&stamp, bytes.data() + STAMP_AT, sizeof stamp);
            if (begun)
            {
                crossings.Record(now - stamp);
            }
            else
            {
                // This one found the receiver asleep. Frames may be lost, so the others are not waited for for ever.
                begun = true;
                end = now + 2 * arguments.count * arguments.gap;
            }
        }
    }
    const auto microseconds = [&crossings](double share) {
        return static_cast<double>(crossings.Percentile(share)) / 1e3;
    };
    std::cout << nlohmann::json{{"count", crossings.Count()},
                                {"port", port.Describe().at("kind")},
                                {"p50", microseconds(0.5)},
                                {"p90", microseconds(0.9)},
                                {"p99", microseconds(0.99)},
                                {"p99_9", microseconds(0.999)}}
              << std::endl;
}

int Run(std::span<char*> given)
{
    const auto arguments = Read(given);
    EndSignal end;
    const auto ports = OpenPorts(arguments.configuration, end);
    auto& port = *ports.at(0);
    SlotTable slots(1, port.Mtu() + ETHERNET_HEADER + VLAN_TAG, 1);
    auto& slot = *slots.Take();
    const RealtimeThread thread(arguments.configuration.realtime);
    arguments.send ? Send(port, slot, arguments) : Receive(port, slot, arguments);
    return 0;
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    try
    {
        return netboxit::Run({argv, static_cast<std::size_t>(argc)});
    }
    catch (const std::exception& error)
    {
        std::cerr << "wire-crossing: " << error.what() << '\n';
        return 1;
    }
}
