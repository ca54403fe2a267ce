// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "measured_flows.h"
#include "nodes.h"
#include "stage.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace netboxit::stages
{

/// QRM, Queue Rate Management: it drops packets of a node that exceeds its budget of the link, so that one node cannot fill the queue of all:
/// C. A. Grazia, "Communication Networks for Public Protection and Disaster Relief Systems", PhD thesis, University of Modena and Reggio
/// Emilia, section 3.1.3. It stands between the nodes, which it tells apart by their IP addresses, and the segment that is their bottleneck.
/// In a round-trip time a node may send its budget times the smallest RTT of its TCP connections, B.
///
/// Settings:
/// - `rate`: of the bottleneck, bit/s;
/// - `budgets`: {IP address: bit/s}, at most 16,384; {}. The nodes without a budget that are active have equal shares of what the budgets
///   leave of the rate. Where these leave nothing, only nodes with a budget can send: that is the source's white list;
/// - `police`: "bucket" (a token bucket of depth B) or "reset" (the source: a counter of bytes that each RTT sets to 0); "bucket";
/// - `tolerance`: factor of B, 1 to 10; 702/700: the RTT between client and remote divided by that between this stage and remote;
/// - `rtt`: of a node before the first sample of its TCP, and of one without TCP, s; 0.1;
/// - `rtt_window`: a node's RTT is the smallest one of this time, s, or of its life (null); 10;
/// - `idle`: a node is active until it has sent nothing for so long, s; 10. Then a node without a budget is forgotten;
/// - `nodes`: active nodes without a budget that are told apart, at most 16,384; 1024. Further ones are one node to QRM, "others", with one share.
///
/// Packets count from their IP header on. A packet passes while its node has anything left, as in the source, so what a node sends in a time
/// t is at most B + budget·t and one packet. With "reset" it is twice B where one RTT ends and the next begins, and a share that is less than
/// a packet in an RTT does not hold at all.
class Qrm : public Stage
{
  public:
    /// Throws nlohmann::json::exception or std::invalid_argument where settings are not as above.
    explicit Qrm(const Json& settings);

    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    void Check(const Json& settings) const override;
    void Set(const Json& settings, std::int64_t now) override;

    bool Polices() const override
    {
        return true;
    }

    /// As of the last packet or setting:
    /// - `nodes`: active ones; `share`: of one without a budget, bit/s; `budgeted`: the sum of budgets, bit/s;
    /// - `passed`, `passed_bytes`, `dropped`, `dropped_bytes`: IP packets from nodes;
    /// - `others`: packets of nodes that are not told apart; `unmanaged`: frames that are no IP packet: they pass;
    /// - `by_node`: of the LISTED nodes that sent last, by address: the same four numbers since the node became active, `budget` in bit/s, and
    ///   `rtt` in s, null before the first sample.
    Json Read(std::int64_t now) const override;

    static constexpr std::uint32_t LARGEST_NODES = 16'384;
    static constexpr std::uint32_t LARGEST_BUDGETS = 16'384;
    /// So that reading takes no time that packets notice.
    static constexpr std::size_t LISTED = 32;

  private:
    enum class Policing
    {
        Bucket,
        Reset
    };

    using Budgets = std::vector<std::pair<IpAddress, double>>; ///< bytes/s

    struct Settings
    {
        double rate; ///< bytes/s
        Budgets budgets;
        Policing police;
        double tolerance;
        std::int64_t rtt;                      ///< ns
        std::optional<std::int64_t> rttWindow; ///< ns
        std::int64_t idle;                     ///< ns
        std::uint32_t nodes;
    };

    struct Counts
    {
        std::uint64_t passed{};
        std::uint64_t passedBytes{};
        std::uint64_t dropped{};
        std::uint64_t droppedBytes{};

        void Add(bool passes, std::uint32_t bytes);
        Json Read() const;
    };

    struct State
    {
        std::optional<double> budget{}; ///< bytes/s; without one it has a share
        std::uint64_t budgetsSet{};     ///< the number of the settings that its budget is of
        WindowedMinimum smallestRtt{};
        std::optional<std::int64_t> lastRtt{}; ///< ns
        // With a bucket: what it has, and until when it was filled.
        double tokens{std::numeric_limits<double>::infinity()};
        double granted{};      ///< of Granted()
        std::int64_t filled{}; ///< ns
        // With a counter: what it sent since it was 0.
        double sent{};
        std::optional<std::int64_t> reset{}; ///< ns; nothing before the first packet
        Counts counts{};
    };

    using Table = Nodes<State>;

    static Settings SettingsOf(const Json& settings);
    static Budgets BudgetsOf(const Json& settings);

    State& SenderOf(const IpHeaders& ip, std::int64_t now);
    bool Passes(State& state, std::uint32_t bytes, std::int64_t now);
    bool PassesCounter(State& state, std::uint32_t bytes, std::int64_t now) const;
    bool PassesBucket(State& state, std::uint32_t bytes, std::int64_t now) const;
    void Fill(State& state, std::int64_t now) const;
    void Expire(std::int64_t now);
    bool IsIdle(Table::Id id, std::int64_t now);
    void Leave(Table::Id id);
    void FillAll(std::int64_t now);
    void TakeBudgets(const Budgets& before);
    void LoseBudget(Table::Id id);
    void Share(std::int64_t now);

    double Granted(std::int64_t now) const;
    double RateOf(const State& state) const;
    double LimitOf(const State& state) const;
    std::int64_t PeriodOf(const State& state) const;
    Json ReadNode(const State& state) const;

    Settings m_settings;
    MeasuredFlows m_flows;
    Table m_nodes;
    std::uint32_t m_sharing{}; ///< active nodes without a budget, but the others
    State m_others;
    std::optional<std::int64_t> m_othersSeen; ///< while they are active, ns
    std::uint64_t m_budgetsSet{};
    double m_budgeted{}; ///< the sum of budgets, bytes/s
    double m_share{};    ///< bytes/s
    double m_granted{};  ///< to each node that had a share all the time, until m_grantedUntil, bytes
    std::int64_t m_grantedUntil{}; ///< ns
    Counts m_counts;
    std::uint64_t m_othersPackets{};
    std::uint64_t m_unmanaged{};
};

} // namespace netboxit::stages
