// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "pcapng.h"
#include "port.h"

namespace netboxit
{

/// A port in virtual time: frames come from one capture with their times, and go to another.
class PcapngPort : public Port
{
  public:
    /// Empty paths: nothing comes in, or what goes out is only counted.
    PcapngPort(std::string name, const std::string& input, const std::string& output, std::uint32_t mtu);

    int Descriptor() const override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    void Refresh() override;
    nlohmann::json Describe() const override;

  private:
    std::string m_inputPath;
    std::optional<PcapngReader> m_input;
    std::optional<PcapngWriter> m_output;
    std::int64_t m_last{INT64_MIN};
};

} // namespace netboxit
