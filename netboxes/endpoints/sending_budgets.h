// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

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
/// dissertation, section 2.2.3). A link's budget is of all connections that send by the interface that leads to the link. Where two
/// links are behind one interface the smaller budget holds.
class SendingBudgets
{
  public:
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
        void Begin(Sender& sender, const ns3::Ptr<ns3::NetDevice>& device);
        void End();

      private:
        std::shared_ptr<SendingBudgets> m_budgets;
        ns3::Ptr<ns3::NetDevice> m_device;
        Sender* m_sender{nullptr};
    };

    /// What the host may send on this link, whose packets leave by `device`; nothing: as much as it wants.
    void Set(const std::string& link, const ns3::Ptr<ns3::NetDevice>& device, std::optional<middleware::Rate> budget);

    /// Whether a connection sends by this interface.
    bool IsUsed(const ns3::Ptr<ns3::NetDevice>& device) const;
    /// Calls `changed` whenever a first connection begins to send by an interface, or the last one ends; nothing: calls nobody.
    void Watch(const std::string& link, std::function<void()> changed);

  private:
    struct Budget
    {
        ns3::Ptr<ns3::NetDevice> device;
        std::optional<middleware::Rate> rate;
    };

    void Tell(const ns3::Ptr<ns3::NetDevice>& device) const;
    void Changed(const ns3::Ptr<ns3::NetDevice>& device, std::size_t few) const;

    std::map<std::string, Budget> m_budgets;                 ///< by link
    std::map<std::string, std::function<void()>> m_watchers; ///< the same
    std::map<ns3::Ptr<ns3::NetDevice>, std::vector<Sender*>> m_senders;
};

} // namespace netboxit
