// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "surroundings.h"

#include "chain.h"

#include <vector>

namespace netboxit::click
{

/// An interface whose frames pass stages (netboxes/stages), where it has any: towards the router as from the node at a netbox's port, and
/// from it as to that node.
class StagedDevice final : public Device
{
  public:
    /// `chain` has no stages yet. The clock must outlive it.
    StagedDevice(std::unique_ptr<Device> device, stages::Chain chain, const Surroundings& clock);

    /// Gives it these stages, between two batches. Throws as stages::Chain::Set, and then changes nothing.
    void SetStages(const nlohmann::json& stages);

    /// What SetStages was given last.
    const nlohmann::json& Stages() const
    {
        return m_stages;
    }

    /// What its stages count; an empty list without any.
    nlohmann::json ReadStages() const
    {
        return m_chain.Read(Now());
    }

    bool HasStages() const
    {
        return !m_chain.IsEmpty();
    }

    /// As stages::Chain::AddTo.
    void AddTo(nlohmann::json& counters) const
    {
        m_chain.AddTo(counters, Now());
    }

    int Descriptor() const override
    {
        return m_device->Descriptor();
    }

    bool BeginWait() override
    {
        return m_device->BeginWait();
    }

    void EndWait(bool readable) override
    {
        m_device->EndWait(readable);
    }

    std::span<const Bytes> Receive() override;
    void Send(Bytes frame) override;

    void Flush() override
    {
        m_device->Flush();
    }

    DeviceStatistics Read() override;

    bool Close() override
    {
        return m_device->Close();
    }

    void Open() override
    {
        m_device->Open();
    }

  private:
    std::int64_t Now() const
    {
        return m_clock.Now().count();
    }

    std::unique_ptr<Device> m_device;
    stages::Chain m_chain;
    nlohmann::json m_stages = nlohmann::json::array();
    const Surroundings& m_clock;
    std::vector<std::uint8_t> m_bytes; ///< of the frames of a batch, one behind the other
    std::vector<Bytes> m_batch;
    std::vector<std::uint8_t> m_outgoing;
    std::uint64_t m_policed{};
};

} // namespace netboxit::click
