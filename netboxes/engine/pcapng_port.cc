// SPDX-License-Identifier: GPL-2.0-or-later
#include "pcapng_port.h"

#include <stdexcept>

namespace netboxit
{

PcapngPort::PcapngPort(std::string name,
                       const std::string& input,
                       const std::string& output,
                       std::uint32_t mtu)
    : Port(std::move(name), mtu), m_inputPath(input)
{
    if (!input.empty())
    {
        m_input.emplace(input);
    }
    if (!output.empty())
    {
        m_output.emplace(output);
    }
}

int PcapngPort::Descriptor() const
{
    return -1;
}

std::size_t PcapngPort::Receive(std::span<Reception> batch)
{
    std::size_t count = 0;
    while (m_input && count < batch.size())
    {
        const auto packet = m_input->Next();
        if (!packet)
        {
            m_input.reset();
            break;
        }
        if (packet->timeNs < m_last)
        {
            throw std::runtime_error("cannot use " + m_inputPath +
                                     ": its packets are not in order of time; sort them with reordercap");
        }
        m_last = packet->timeNs;
        if (!Accept(packet->data.size()))
        {
            continue;
        }
        batch[count++].Put(packet->data, packet->timeNs);
    }
    return count;
}

void PcapngPort::Send(std::span<Departure> departures, std::int64_t stamp)
{
    for (auto& departure : departures)
    {
        if (m_output)
        {
            m_output->Write(stamp, departure.slot->bytes);
        }
        departure.taken = true;
    }
    counters.sent += departures.size();
}

void PcapngPort::Refresh()
{
    if (m_output)
    {
        m_output->Finish();
    }
}

nlohmann::json PcapngPort::Describe() const
{
    return {{"name", Name()}, {"kind", "pcapng"}, {"mtu", Mtu()}};
}

} // namespace netboxit
