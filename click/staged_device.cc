// SPDX-License-Identifier: GPL-2.0-or-later
#include "staged_device.h"

#include <algorithm>

namespace netboxit::click
{

StagedDevice::StagedDevice(std::unique_ptr<Device> device, stages::Chain chain, const Surroundings& clock)
    : m_device(std::move(device)), m_chain(std::move(chain)), m_clock(clock)
{
}

void StagedDevice::SetStages(const nlohmann::json& stages)
{
    m_chain.Set(stages, Now());
    m_stages = stages;
}

std::span<const Bytes> StagedDevice::Receive()
{
    if (m_chain.IsEmpty())
    {
        return m_device->Receive();
    }
    const auto received = m_device->Receive();
    std::size_t size = 0;
    for (const auto frame : received)
    {
        size += frame.size();
    }
    m_bytes.resize(std::max(m_bytes.size(), size));
    m_batch.clear();
    auto room = std::span(m_bytes);
    for (const auto frame : received)
    {
        const auto copy = room.first(frame.size());
        std::ranges::copy(frame, copy.begin());
        if (m_chain.Entering(copy, ReadHeaders(copy), Now()))
        {
            m_batch.push_back(copy);
            room = room.subspan(frame.size());
        }
        else
        {
            ++m_policed;
        }
    }
    return m_batch;
}

void StagedDevice::Send(Bytes frame)
{
    if (m_chain.IsEmpty())
    {
        return m_device->Send(frame);
    }
    m_outgoing.assign(frame.begin(), frame.end());
    if (m_chain.Leaving(m_outgoing, ReadHeaders(m_outgoing), Now()))
    {
        m_device->Send(m_outgoing);
    }
    else
    {
        ++m_policed;
    }
}

DeviceStatistics StagedDevice::Read()
{
    auto statistics = m_device->Read();
    statistics.policed = m_policed;
    return statistics;
}

} // namespace netboxit::click
