// SPDX-License-Identifier: GPL-2.0-or-later

#include "stream.h"
#include "trace.h"

#include <arpa/inet.h>

#include <deque>

namespace netboxit
{

namespace
{

/// Random streams: one a station.
constexpr std::int64_t FIRST_STREAM = 3000;

MacAddress ReadMac(const std::string& text)
{
    MacAddress address{};
    for (std::size_t i = 0; i < address.size(); ++i)
    {
        address[i] = static_cast<std::uint8_t>(std::stoul(text.substr(3 * i, 2), nullptr, 16));
    }
    return address;
}

std::array<std::uint8_t, 4> ReadAddress(const std::string& text)
{
    std::array<std::uint8_t, 4> address{};
    if (inet_pton(AF_INET, text.c_str(), address.data()) != 1)
    {
        throw std::invalid_argument(text + " is not an IPv4 address");
    }
    return address;
}

/// Each station's stream is a flow of its own: the last byte of the source's MAC address and the source port count up.
FlowAddresses FlowOf(StationId station, const Json& parameters)
{
    FlowAddresses flow{.sourceMac = ReadMac(parameters.at("source_mac")),
                       .destinationMac = ReadMac(parameters.at("destination_mac")),
                       .source = ReadAddress(parameters.at("source_address")),
                       .destination = ReadAddress(parameters.at("destination_address")),
                       .sourcePort = parameters.at("source_port"),
                       .destinationPort = parameters.at("destination_port"),
                       .dscp = parameters.at("dscp")};
    flow.sourceMac.back() = static_cast<std::uint8_t>(flow.sourceMac.back() + station);
    flow.sourcePort = static_cast<std::uint16_t>(flow.sourcePort + station);
    return flow;
}

} // namespace

/// A source of test traffic: each station sends a stream of numbered, stamped datagrams, or a recording.
class GeneratorSegment : public Segment
{
  public:
    explicit GeneratorSegment(const SegmentSetup& setup) : m_names(setup.stations), m_frames(setup.frames)
    {
        const auto& parameters = setup.parameters;
        std::shared_ptr<const Recording> recording;
        if (parameters.at("pattern") == "trace")
        {
            recording = std::make_shared<Recording>(ReadRecording(parameters.at("trace")));
        }
        for (StationId id = 0; id < m_names.size(); ++id)
        {
            m_streams.push_back(recording ? MakeReplay(id, recording) : MakeStream(id, parameters));
            m_streams.back().SetCount(parameters.at("count"));
            m_streams.back().SetActive(parameters.at("active"));
        }
    }

    void Transmit(StationId, Destination, const Frame& frame) override
    {
        ++m_received;
        m_frames.Absorb(frame.slot);
    }

    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Reset() override;

    bool IsEnd() const override
    {
        return true;
    }

  private:
    Stream MakeReplay(StationId id, const std::shared_ptr<const Recording>& recording);
    Stream MakeStream(StationId id, const Json& parameters);

    std::vector<std::string> m_names;
    Frames& m_frames;
    std::deque<Stream> m_streams; ///< events refer to them where they are
    std::uint64_t m_received{0};
};

Stream GeneratorSegment::MakeReplay(StationId id, const std::shared_ptr<const Recording>& recording)
{
    const auto replay = std::make_shared<Replay>(recording);
    return {id, m_frames, replay, replay};
}

Stream GeneratorSegment::MakeStream(StationId id, const Json& parameters)
{
    const double rate = parameters.at("rate");
    const double size = parameters.at("size");
    const auto frame = std::make_shared<NumberedFrame>(FlowOf(id, parameters), static_cast<std::size_t>(size));
    if (parameters.at("pattern") == "poisson")
    {
        return {id, m_frames, std::make_shared<PoissonTimetable>(rate, FIRST_STREAM + id), frame};
    }
    const std::uint64_t burst = parameters.at("pattern") == "burst" ? parameters.at("burst").get<std::uint64_t>() : 1;
    return {id, m_frames, std::make_shared<PeriodicTimetable>(rate, burst), frame};
}

void GeneratorSegment::Set(std::string_view parameter, const Json& value)
{
    if (parameter == "active")
    {
        for (auto& stream : m_streams)
        {
            stream.SetActive(value);
        }
        return;
    }
    const auto number = value.get<double>();
    for (auto& stream : m_streams)
    {
        if (parameter == "rate")
        {
            stream.SetRate(number);
        }
        else if (parameter == "size")
        {
            stream.SetSize(static_cast<std::size_t>(number));
        }
        else
        {
            stream.SetCount(static_cast<std::uint64_t>(number));
        }
    }
}

Json GeneratorSegment::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < m_names.size(); ++id)
    {
        stations[m_names[id]] = m_streams[id].Read();
    }
    return {{"stations", stations}, {"received", m_received}};
}

void GeneratorSegment::Reset()
{
    m_received = 0;
    for (auto& stream : m_streams)
    {
        stream.Reset();
    }
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<GeneratorSegment>(setup);
}

} // namespace netboxit
