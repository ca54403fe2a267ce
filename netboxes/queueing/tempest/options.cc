// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

namespace netboxit::queueing::tempest
{

namespace
{

/// Of a single scheduler, and of flows before another one.
const std::vector<std::string> WIRED{"fifo", "drr", "scfq", "wf2q+", "qfq", "qfq+"};
/// Disciplines that have lines for flows of equal weights, and drop.
const std::vector<std::string> WITH_AQM{"codel", "fq-codel", "cake"};
/// Those that know of channels.
const std::vector<std::string> INTEGRATED{"w2f2q"};
/// More would not fit into the memory of a workstation.
constexpr std::uint64_t MOST_FLOWS = 1'000'000;
constexpr std::uint64_t MOST_WAITING = 100'000'000;

std::vector<std::string> Split(const std::string& text, const std::string& by)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (auto end = text.find(by); end != std::string::npos; end = text.find(by, begin))
    {
        parts.push_back(text.substr(begin, end - begin));
        begin = end + by.size();
    }
    parts.push_back(text.substr(begin));
    return parts;
}

template <typename Number>
Number NumberOf(const std::string& option, const std::string& text, Number least, Number most)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number >= least && number <= most))
    {
        std::ostringstream message;
        message << option << ": \"" << text << "\" is no number from " << least << " to " << most;
        throw BadOption(message.str());
    }
    return number;
}

/// "30" or "30k".
std::uint64_t CountOf(const std::string& option, const std::string& text, std::uint64_t most)
{
    const bool inThousands = text.ends_with('k');
    const std::uint64_t unit = inThousands ? 1000 : 1;
    return unit * NumberOf<std::uint64_t>(option, text.substr(0, text.size() - (inThousands ? 1 : 0)), 1, most / unit);
}

/// "20::20,10::20,1::60": weight and number of each set; a weight that is not said is 1.
Weights SetsOf(const std::string& option, const std::string& text)
{
    Weights weights;
    for (const auto& set : Split(text, ","))
    {
        const auto parts = Split(set, "::");
        if (parts.size() > 2)
        {
            throw BadOption(option + ": \"" + set + "\" is no set; write WEIGHT::NUMBER, as 20::60");
        }
        const bool hasWeight = parts.size() == 2 && !parts.front().empty();
        const auto weight = hasWeight ? NumberOf<std::uint32_t>(option, parts.front(), 1, 65'535) : 1;
        weights.insert(weights.end(), CountOf(option, parts.back(), MOST_FLOWS), weight);
        if (weights.size() > MOST_FLOWS)
        {
            throw BadOption(option + ": these are more than " + std::to_string(MOST_FLOWS) + " flows");
        }
    }
    return weights;
}

/// "300", or "30n", which is so many for each flow.
std::uint64_t BacklogOf(const std::string& option, const std::string& text, std::size_t flows)
{
    const bool perFlow = text.ends_with('n');
    const auto number = NumberOf<std::uint64_t>(option, text.substr(0, text.size() - (perFlow ? 1 : 0)), 0, MOST_WAITING);
    const auto packets = number * (perFlow ? flows : 1);
    if (packets > MOST_WAITING)
    {
        throw BadOption(option + ": more than " + std::to_string(MOST_WAITING) + " packets");
    }
    return packets;
}

std::string SchedulerOf(const std::string& option, const std::string& name, const std::vector<std::string>& schedulers)
{
    if (std::ranges::find(schedulers, name) == schedulers.end())
    {
        std::string known;
        for (const auto& each : schedulers)
        {
            known += " " + each;
        }
        throw BadOption(option + ": there is no scheduler \"" + name + "\"; there are" + known);
    }
    return name;
}

/// "two-state:GOOD:BAD:DWELL": channels that change. Nothing else: they do not.
TwoStates StatesOf(const std::string& text)
{
    const std::string option = "-ploss";
    const auto parts = Split(text, ":");
    if (parts.front() != "two-state")
    {
        return {};
    }
    if (parts.size() != 4)
    {
        throw BadOption(option + ": \"" + text + "\"; write two-state:GOOD:BAD:DWELL, as two-state:0.01:0.9:50");
    }
    const TwoStates states{NumberOf(option, parts[1], 0.0, 1.0), NumberOf(option, parts[2], 0.0, 1.0), NumberOf(option, parts[3], 1.0, 1e9)};
    if (states.good >= states.bad)
    {
        throw BadOption(option + ": \"" + text + "\" loses no less in its good state than in its bad one");
    }
    return states;
}

/// "0.5:0.1", a loss for each station; or "log:1:0.0001" and "linear:1:0.0001", from that of the first to that of the last one.
std::vector<double> LossesOf(const std::string& text, std::size_t stations)
{
    const std::string option = "-ploss";
    auto parts = Split(text, ":");
    const auto course = parts.front();
    if (course != "log" && course != "linear")
    {
        if (parts.size() != stations)
        {
            throw BadOption(option + ": " + std::to_string(parts.size()) + " losses for " + std::to_string(stations) +
                            " stations; write one for each, or linear:FIRST:LAST, log:FIRST:LAST or two-state:GOOD:BAD:DWELL");
        }
        std::vector<double> losses;
        std::ranges::transform(parts, std::back_inserter(losses), [&](const auto& part) { return NumberOf(option, part, 0.0, 1.0); });
        return losses;
    }
    if (parts.size() != 3)
    {
        throw BadOption(option + ": \"" + text + "\"; write " + course + ":FIRST:LAST");
    }
    const double least = course == "log" ? 1e-12 : 0.0;
    const auto first = NumberOf(option, parts[1], least, 1.0), last = NumberOf(option, parts[2], least, 1.0);
    std::vector<double> losses;
    for (std::size_t station = 0; station < stations; ++station)
    {
        const double way = stations > 1 ? static_cast<double>(station) / static_cast<double>(stations - 1) : 0;
        losses.push_back(course == "log" ? first * std::pow(last / first, way) : first + (last - first) * way);
    }
    return losses;
}

class Words
{
  public:
    explicit Words(const std::vector<std::string>& words)
    {
        static const std::array known{"-n",        "-qmin",       "-qmax",        "-len",  "-burst",   "-qsing", "-mode", "-alg",  "-qos",  "-mac",
                                      "-flows",    "-flowsets",   "-flowsmac",    "-qmac", "-wdistr", "-ploss", "-rate", "-seed",
                                      "-flowsetsmac", "-intgr_th", "-hosts"};
        for (std::size_t at = 0; at < words.size(); at += 2)
        {
            if (std::ranges::find(known, words[at]) == known.end())
            {
                throw BadOption("there is no option \"" + words[at] + "\"; README.md has them");
            }
            if (at + 1 == words.size())
            {
                throw BadOption(words[at] + " wants a value");
            }
            if (!m_said.emplace(words[at], words[at + 1]).second)
            {
                throw BadOption(words[at] + " is there twice");
            }
        }
    }

    std::optional<std::string> Said(const std::string& option) const
    {
        const auto found = m_said.find(option);
        return found == m_said.end() ? std::nullopt : std::optional(found->second);
    }

    std::string Needed(const std::string& option) const
    {
        if (const auto said = Said(option))
        {
            return *said;
        }
        throw BadOption(option + " is missing");
    }

    void Refuse(const std::vector<std::string>& options, const std::string& whose) const
    {
        for (const auto& option : options)
        {
            if (Said(option))
            {
                throw BadOption(option + " is for " + whose);
            }
        }
    }

  private:
    std::map<std::string, std::string> m_said;
};

/// Their channels, and which of these are bad: those of a success in thousandths, as the analogical weight is, below -intgr_th. The
/// default is 80 %, above which a station is good (Grazia, 4.2.3.3).
void AddStations(Options& options, const Words& words, std::size_t stations)
{
    const auto said = words.Said("-ploss").value_or("linear:0:0");
    options.states = StatesOf(said);
    const double mean = (options.states.good + options.states.bad) / 2;
    options.losses = options.states.dwell > 0 ? std::vector<double>(stations, mean) : LossesOf(said, stations);
    options.mostLoss = (1000 - NumberOf("-intgr_th", words.Said("-intgr_th").value_or("800"), 0.0, 1000.0)) / 1000;
}

/// Stations that have weights: these are said, or follow from the losses.
void AddWeighedStations(Options& options, const Words& words)
{
    const auto stations = words.Said("-flowsmac"), sets = words.Said("-flowsetsmac");
    if (stations.has_value() == sets.has_value())
    {
        throw BadOption("say how many stations there are: -flowsmac NUMBER or -flowsetsmac WEIGHT::NUMBER,…");
    }
    if (sets)
    {
        words.Refuse({"-wdistr"}, "-flowsmac; -flowsetsmac has weights");
        options.stationWeights = SetsOf("-flowsetsmac", *sets);
        AddStations(options, words, options.stationWeights.size());
        return;
    }
    AddStations(options, words, CountOf("-flowsmac", *stations, MOST_FLOWS));
    const auto policy = NumberOf<unsigned>("-wdistr", words.Said("-wdistr").value_or("3"), 0, 3);
    options.stationWeights = WeightsOf(static_cast<WeightPolicy>(policy), options.losses);
}

} // namespace

Options ParseOptions(const std::vector<std::string>& said)
{
    const Words words(said);
    Options options;
    const auto flows = words.Said("-flows"), sets = words.Said("-flowsets");
    if (flows.has_value() == sets.has_value())
    {
        throw BadOption("say how many flows there are: -flows NUMBER or -flowsets WEIGHT::NUMBER,…");
    }
    options.weights = flows ? Weights(CountOf("-flows", *flows, MOST_FLOWS), 1) : SetsOf("-flowsets", *sets);
    options.events = CountOf("-n", words.Needed("-n"), 10'000'000'000);
    options.leastTotal = BacklogOf("-qmin", words.Needed("-qmin"), options.weights.size());
    options.mostTotal = BacklogOf("-qmax", words.Needed("-qmax"), options.weights.size());
    if (options.leastTotal >= options.mostTotal)
    {
        throw BadOption("-qmin is not below -qmax, so nothing would be enqueued");
    }
    options.length = NumberOf<std::uint32_t>("-len", words.Said("-len").value_or("1700"), 1, 65'535);
    options.burst = NumberOf<unsigned>("-burst", words.Said("-burst").value_or("0"), 0, 1000);
    options.leastOfFlow = NumberOf<unsigned>("-qsing", words.Said("-qsing").value_or("0"), 0, 1'000'000);
    options.rate = NumberOf("-rate", words.Said("-rate").value_or("54e6"), 1.0, 1e12);
    options.seed = NumberOf<unsigned>("-seed", words.Said("-seed").value_or("1"), 0, ~0U);
    if (const auto hosts = words.Said("-hosts"))
    {
        if (words.Said("-alg") != "cake")
        {
            throw BadOption("-hosts is for cake, which tells hosts apart");
        }
        options.hosts = CountOf("-hosts", *hosts, MOST_FLOWS);
    }
    const auto mode = words.Needed("-mode");
    if (mode == "single")
    {
        words.Refuse({"-qos", "-mac", "-qmac", "-wdistr", "-flowsetsmac"}, "-mode double");
        words.Refuse({"-flowsmac", "-ploss", "-intgr_th"}, "-mode integrated and -mode double");
        auto disciplines = WIRED;
        disciplines.insert(disciplines.end(), WITH_AQM.begin(), WITH_AQM.end());
        options.scheduler = SchedulerOf("-alg", words.Needed("-alg"), disciplines);
        if (std::ranges::find(WITH_AQM, options.scheduler) != WITH_AQM.end() && std::ranges::max(options.weights) > 1)
        {
            throw BadOption(options.scheduler + " has flows of equal weights; say -flows NUMBER");
        }
    }
    else if (mode == "integrated")
    {
        words.Refuse({"-qos", "-mac", "-qmac", "-wdistr", "-flowsetsmac"}, "-mode double");
        options.scheduler = SchedulerOf("-alg", words.Needed("-alg"), INTEGRATED);
        AddStations(options, words, CountOf("-flowsmac", words.Needed("-flowsmac"), MOST_FLOWS));
    }
    else if (mode == "double")
    {
        if (words.Said("-alg"))
        {
            throw BadOption("-alg is for -mode single and -mode integrated; say -qos and -mac");
        }
        options.scheduler = SchedulerOf("-qos", words.Needed("-qos"), WIRED);
        auto below = WIRED;
        below.insert(below.end(), INTEGRATED.begin(), INTEGRATED.end());
        options.below = SchedulerOf("-mac", words.Needed("-mac"), below);
        options.prefetched = NumberOf<std::uint64_t>("-qmac", words.Needed("-qmac"), 0, MOST_WAITING);
        AddWeighedStations(options, words);
        if (options.below != "w2f2q")
        {
            words.Refuse({"-intgr_th"}, "w2f2q");
        }
    }
    else
    {
        throw BadOption("-mode: \"" + mode + "\"; there are single, integrated and double");
    }
    return options;
}

} // namespace netboxit::queueing::tempest
