// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../../middleware/address.h"
#include "../../middleware/rate.h"

#include "ns3/net-device.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace netboxit
{

/// The budgets that a host has on managed links, split evenly among its TCP connections, as a client of C2ML may do (C. A. Grazia,
/// dissertation, section 2.2.3). A link's budget is of all connections that send by the way to it. Where two links are on the way
/// of a connection the smaller share holds.
class SendingBudgets
{
  public:
    /// Which connections send over a link.
    struct Way
    {
        ns3::Ptr<ns3::NetDevice> device;          ///< by which their packets leave
        std::vector<middleware::Prefix> beside{}; ///< where they lead that do not reach the link
    };

    /// A connection that keeps to its share.
    class Sender
    {
      public:
        virtual ~Sender() = default;
        /// Bit/s of IP packets from now on; nothing: no budget applies.
        virtual void UseShare(std::optional<middleware::Rate> share) = 0;
    };

    /// A connection's place among those that share; it has none before Begin(). A copy has none either: a connection that a
    /// listener accepts is a copy of the listener.
    class Place
    {
      public:
        explicit Place(std::shared_ptr<SendingBudgets> budgets);
        Place(const Place& other);
        Place& operator=(const Place&) = delete;
        ~Place();

        bool IsTaken() const
        {
            return m_sender != nullptr;
        }

        /// `device`: by which the connection's packets leave.
        void Begin(Sender& sender, const ns3::Ptr<ns3::NetDevice>& device, const middleware::HostAddress& peer);
        void End();

      private:
        std::shared_ptr<SendingBudgets> m_budgets;
        ns3::Ptr<ns3::NetDevice> m_device;
        Sender* m_sender{nullptr};
    };

    /// What the host may send on this link; nothing: as much as it wants.
    void Set(const std::string& link, const Way& way, std::optional<middleware::Rate> budget);

    /// Whether a connection sends this way.
    bool IsUsed(const Way& way) const;
    /// Calls `changed` whenever a connection begins to send, or ends; nothing: calls nobody.
    void Watch(const std::string& link, std::function<void()> changed);

  private:
    struct Budget
    {
        Way way;
        std::optional<middleware::Rate> rate;
    };
    struct Connection
    {
        Sender* sender;
        middleware::HostAddress peer;
    };
    using Connections = std::vector<Connection>;

    const Connections& By(const ns3::Ptr<ns3::NetDevice>& device) const;
    void Tell(const ns3::Ptr<ns3::NetDevice>& device) const;
    void Changed(const ns3::Ptr<ns3::NetDevice>& device) const;

    std::map<std::string, Budget> m_budgets;                 ///< by link
    std::map<std::string, std::function<void()>> m_watchers; ///< the same
    std::map<ns3::Ptr<ns3::NetDevice>, Connections> m_connections;
};

} // namespace netboxit
