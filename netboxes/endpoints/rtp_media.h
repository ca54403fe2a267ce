// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram_source.h"

#include "../engine/configuration_section.h"

#include <array>
#include <vector>

namespace netboxit
{

/// A stream of RTP (RFC 3550) whose packets have the lengths and times of a piece that repeats: of speech one packet, of pictures
/// those of some seconds. Headers are real, and count on from one turn to the next; the media themselves are zeros.
class RtpMedia : public DatagramSource
{
  public:
    struct Packet
    {
        std::int64_t offset; ///< ns after the turn's beginning
        std::size_t length;  ///< behind the RTP header
        std::int64_t media;  ///< ns: where what it carries belongs in the turn; a picture's packets have one such time
        bool marker;
    };

    struct Configuration
    {
        std::vector<Packet> packets; ///< of a turn, in order of time
        std::int64_t turn;           ///< ns
        std::int64_t until;          ///< ns after the start, exclusive
        double clock;                ///< Hz, of timestamps
        std::uint8_t payloadType;
        std::uint32_t source; ///< SSRC
    };

    /// Reads `media` of a sender; throws BadConfiguration.
    static Configuration Read(Section section);

    explicit RtpMedia(Configuration configuration);

    std::optional<Datagram> Next() override;
    bool IsNumbered() const override;

  private:
    static constexpr std::size_t HEADER = 12; ///< RFC 3550, 5.1

    Configuration m_configuration;
    std::size_t m_packet{0};
    std::int64_t m_turns{0};
    std::uint16_t m_number{0};
    std::array<std::uint8_t, HEADER> m_header{};
};

} // namespace netboxit
