// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "control_socket.h"
#include "daemon_configuration.h"
#include "event_journal.h"
#include "group_membership.h"
#include "shaper.h"
#include "state_file.h"
#include "telemetry_socket.h"
#include "udp_port.h"

#include <memory>

namespace netboxit::middleware
{

/// Runs the parts of one host in the management of links: gives allocators and members a clock, datagrams and random numbers, and
/// has members' budgets enforced.
class Daemon
{
  public:
    /// Opens the ports and begins to join. Throws std::system_error.
    explicit Daemon(const DaemonConfiguration& configuration);

    /// Until SIGTERM or SIGINT, which it blocks: then members leave, and their shapers are removed.
    void Run();

  private:
    /// A route may change, and nothing tells. Our own choice.
    static constexpr Time FIND_AGAIN = 5 * SECOND;

    struct Sending
    {
        std::uint64_t unsent{};    ///< datagrams that the system did not take
        std::string lastFailure{}; ///< what it answered
    };

    /// Whose telemetry counts.
    struct Teller
    {
        std::optional<std::string> interface; ///< nothing: the one by which the allocator is reached
        HostAddress allocator{};
        unsigned index{};                     ///< the kernel's, of that interface; 0 where there is none
        Time found{-FIND_AGAIN};              ///< when the kernel was asked for it
        std::optional<Rate> told{};           ///< bit/s: of a member the access, of an allocator what it divides

        bool IsAt(unsigned interfaceIndex, Time now);
    };

    struct AllocatorHost
    {
        std::string name;
        std::uint32_t domain;
        AllocatorPart part;
        std::optional<Allocator> allocator{}; ///< nothing before a netbox told the rate that it follows
        Teller teller{};                      ///< where it follows one
        std::uint64_t epoch{};                ///< of the terms that were said last
        Sending sending{};
    };

    struct MemberHost
    {
        std::string name;
        std::uint32_t domain;
        Enforcement enforcement;
        Member member;
        std::unique_ptr<Shaper> shaper; ///< with Enforcement::Shaper
        std::optional<Teller> access;   ///< with telemetry
        std::optional<GroupMembership> group{}; ///< where announcements come by multicast
        std::optional<std::string> unenforced{}; ///< what was said last of why its budget is not in force
        Sending sending{};
    };

    void OpenJournal(const std::optional<std::string>& path);
    void Open(const AllocatorPart& part, const std::string& name, Time now);
    void Open(const MemberPart& part, const std::string& name, bool sendsAnnouncements, Time now);

    void Serve(Time now);
    /// For something to do, until then at the latest.
    void Wait(Time latest);
    Time Due() const;
    bool IsAsked();
    void Leave();

    void ListenToNetboxes();
    /// Parts follow what the netbox at their interface tells.
    void Take(const TelemetrySocket::Arrival& arrival, Time now);
    /// An allocator of that many bit/s, which may have been one of others before.
    void Divide(AllocatorHost& host, Rate capacity, Time now);
    /// After each call of a part: sends what it has to say, and applies it.
    void Settle(AllocatorHost& host);
    void Settle(MemberHost& host, Time now);
    void StayIn(MemberHost& host, Time now);
    void Send(UdpPort& port, const Datagram& datagram, const Address& to, Sending& sending);
    /// Prints it, and writes it down.
    void Note(const MemberHost& host, const Member::Event& event);
    void NoteEnforcement(MemberHost& host);
    void WriteDown(const std::string& link, const Announced& announced);

    void WriteState(Time now);
    Json Read() const;
    Json Answer(const std::string& method, const Json& params);
    Json Set(const Json& params);

    std::vector<AllocatorHost> m_allocators;
    std::set<std::string> m_shapedInterfaces; ///< before the members, whose shapers know it
    std::vector<MemberHost> m_members;
    std::unique_ptr<UdpPort> m_allocatorPort;     ///< with an allocator
    std::unique_ptr<UdpPort> m_memberPort;        ///< with a member
    std::unique_ptr<TelemetrySocket> m_telemetry; ///< with a part that follows it
    Descriptor m_signals;
    StateFile m_state;
    std::optional<EventJournal> m_journal;
    std::string m_stateFailure;
    std::unique_ptr<ControlSocket> m_control;
};

} // namespace netboxit::middleware
