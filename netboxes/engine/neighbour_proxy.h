// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "neighbour_message.h"
#include "segment.h"

#include <map>

namespace netboxit
{

/// Answers ARP requests and IPv6 neighbour solicitations in place of the stations that they are for, where the medium
/// has no address resolution (a proxy ARP/ND function as in RFC 9161; RFC 5692 asks for one in IEEE 802.16).
///
/// It learns from ARP and neighbour discovery alone, as they enter: behind a router many IP addresses have one MAC
/// address and are nobody's neighbours. What it cannot answer goes over the medium, but not for ever: see
/// Decision::Verdict.
class NeighbourProxy
{
  public:
    struct Decision
    {
        enum class Verdict
        {
            Pass,     ///< over the medium like any other frame, to `owner` alone when there is one
            Answer,   ///< `answer` leaves where the question came in, and the question ends here
            Suppress, ///< the frame ends here: the same question, or announcement, went over the medium lately
        };

        Verdict verdict{Verdict::Pass};
        std::vector<std::uint8_t> answer; ///< a frame without FCS
        std::optional<StationId> owner;   ///< of an address that is known, but has to be asked for again
    };

    explicit NeighbourProxy(std::size_t stations);

    /// Decides about a frame that enters from this station at a simulated time (ns), and learns from it. Questions
    /// for owners that the segment does not connect with `from` now are not answered.
    Decision Decide(Bytes frame, const Headers& headers, StationId from, std::int64_t now, const Segment& segment);

    /// "known" addresses, questions "answered", frames "suppressed".
    Json Read() const;

  private:
    struct Neighbour
    {
        MacAddress mac{};
        StationId station{};
        std::optional<bool> router{}; ///< nothing: IPv6, and it has not advertised itself yet
        std::int64_t confirmed{};   ///< when it last spoke
        std::optional<std::int64_t> announced{}; ///< when an announcement of it last went over the medium
    };

    /// A question that has gone over the medium and was not answered.
    struct Asked
    {
        std::int64_t at{};
        std::int64_t patience{}; ///< ns: the same question passes again after so long
    };

    /// Null when the station has more addresses than are kept.
    Neighbour* Learn(const NeighbourMessage::Claim& claim, StationId from, std::int64_t now);
    Decision DecideQuestion(Bytes frame,
                            const Headers& headers,
                            const NeighbourMessage& message,
                            StationId from,
                            std::int64_t now,
                            const Segment& segment);
    /// A question that is not answered here: passes, if it has not just done so.
    Decision Ask(const NetworkAddress& address, const Neighbour* known, StationId from, std::int64_t now);
    Decision Suppress();
    void Forget(StationId station, std::int64_t now);

    std::map<NetworkAddress, Neighbour> m_neighbours;
    std::vector<std::size_t> m_counts; ///< of m_neighbours, by station
    std::vector<std::map<NetworkAddress, Asked>> m_asked; ///< by who asks
    std::vector<std::int64_t> m_forgot;
    std::uint64_t m_answered{};
    std::uint64_t m_suppressed{};
};

} // namespace netboxit
