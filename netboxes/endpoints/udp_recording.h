// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram_source.h"

#include "../engine/pcapng.h"

namespace netboxit
{

/// The UDP payloads of a pcapng capture, each at its time after the first one. Reads the file as it goes.
class UdpRecording : public DatagramSource
{
  public:
    /// Throws std::runtime_error, which names the file, when it cannot be read.
    explicit UdpRecording(const std::string& path);

    /// Payloads that the capture cut short have their length by the UDP header. Of a fragmented datagram the first fragment counts.
    std::optional<Datagram> Next() override;
    bool IsNumbered() const override;

  private:
    PcapngReader m_reader;
    std::optional<std::int64_t> m_first; ///< ns since 1970
};

} // namespace netboxit
