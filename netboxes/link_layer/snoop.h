// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "raw_service.h"
#include "scheme_settings.h"
#include "snoop_connection.h"

#include "keyed_slots.h"

#include <memory>
#include <vector>

namespace netboxit::multiservice
{

/// "snoop" (section 4.2.3): Berkeley Snoop at the base station. It keeps TCP segments that go to the wireless host,
/// sends them again when duplicate acknowledgements or its own timer show a loss, and suppresses those duplicates. Frames are
/// as those of the raw link.
///
/// It reads TCP and changes no byte: SACK blocks pass as they are in each acknowledgement that passes. What it cannot read
/// (other protocols, fragments, IPsec) passes and counts as unmanaged. Losses towards the base station are not repaired.
class Snoop : public RawService
{
  public:
    Snoop(ServicePort& port, const Json& settings);

    void Set(const Json& settings) override;
    Json Read() const override;

  protected:
    void TakePacket(const Packet& packet) override;
    void TakeFrame(const AirFrame& frame) override;

  private:
    using Id = stages::IndexList::Index;

    struct Settings : SnoopConnection::Settings
    {
        static Settings Of(const Json& settings, const LinkFacts& facts);

        unsigned connections{}; ///< at most so many at once
    };

    Snoop(ServicePort& port, const Settings& settings);

    /// The connection of a segment towards the wireless host, a new one where it is of none.
    Id Find(const stages::TcpFlowKey& key);
    void Remove(Id id);
    void SendAgain(Id id, const Packet& packet);
    void StartTimer(Id id);
    void Expired(Id id);

    Settings m_settings;
    stages::KeyedSlots<stages::TcpFlowKey, SnoopConnection> m_connections;
    stages::IndexList m_byAge; ///< the one that was idle for longest first
    std::vector<std::unique_ptr<Timer>> m_timers; ///< by connection
    std::size_t m_open{0};
    std::uint64_t m_unmanaged{0};
    std::uint64_t m_evicted{0};
};

} // namespace netboxit::multiservice
