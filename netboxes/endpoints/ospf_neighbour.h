// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bfd_session.h"
#include "ospf_database.h"

#include "ns3/mac48-address.h"

#include <memory>

namespace netboxit::ospf
{

/// Another router at an interface: the database exchange with it, and what it has not confirmed yet (RFC 2328, 10 and 13).
class Neighbour
{
  public:
    /// RFC 2328, 10.1. "2-Way" is not among them: here all neighbours become adjacent.
    enum class State : std::uint8_t
    {
        Init,
        ExStart,
        Exchange,
        Loading,
        Full,
    };

    /// The router's side.
    class Surroundings
    {
      public:
        virtual ~Surroundings() = default;
        virtual Id RouterId() const = 0;
        virtual const Database& TheDatabase() const = 0;
        /// Sends an OSPF packet to the neighbour.
        virtual void SendTo(const Neighbour& neighbour, Bytes packet) = 0;
        /// The state is another one than `before`.
        virtual void Changed(Neighbour& neighbour, State before) = 0;
    };

    Neighbour(Surroundings& router, Id id, std::size_t interface, std::uint16_t mtu, std::int64_t retransmit);

    Id RouterId() const
    {
        return m_id;
    }

    std::size_t Interface() const
    {
        return m_interface;
    }

    State TheState() const
    {
        return m_state;
    }

    /// A hello has come from there, which names this router or does not.
    void Hear(bool namesUs);
    void Take(const Description& description);
    void TakeRequest(const std::vector<Id>& wanted);
    /// It has sent this instance: what was asked for has come.
    void HasSent(const LsaHeader& header);
    void TakeAcknowledgement(const std::vector<LsaHeader>& headers);

    /// Has it get an instance that is new here, from whoever; false when it has it already (13.3).
    bool Owe(const LsaHeader& header);
    /// Sends instances now.
    void Send(std::vector<const Lsa*> all);

    std::size_t Unconfirmed() const
    {
        return m_unconfirmed.size();
    }

    /// Where it is, by its latest hello.
    Id address{};
    ns3::Mac48Address mac;
    /// Runs out when no hello comes.
    Timer inactivity;
    std::unique_ptr<BfdSession> bfd;

  private:
    void Go(State state);
    void Start();
    /// The two agree who is the master.
    void Negotiated(bool asMaster, std::uint32_t sequence);
    void TakePart(const Description& description);
    void SendDescription();
    void Finish();
    void SendRequest();
    void Repeat();

    Surroundings& m_router;
    Id m_id;
    std::size_t m_interface;
    std::uint16_t m_mtu;
    std::int64_t m_retransmit;
    State m_state{State::Init};
    bool m_isMaster{true};
    std::uint32_t m_sequence{0};
    std::vector<LsaHeader> m_summary; ///< what it is still to be told of
    Description m_sent{};
    std::optional<Description> m_received;
    std::map<Id, LsaHeader> m_wanted;
    std::map<Id, LsaHeader> m_unconfirmed;
    Timer m_repeat;
};

} // namespace netboxit::ospf
