// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "simulator_timebase.h"

#include "layer_end.h"
#include "scheme_chooser.h"

#include <map>

namespace netboxit::link_layer
{

/// A technology with a multi-service link layer above it: what two stations send to each other goes through the services of both ends, and
/// the technology carries the frames of the link layer. What is for several stations goes over the technology as it is.
///
/// `settings` are what link_layer.py dumps.
class LinkLayerSegment : public Segment
{
  public:
    /// Throws OutOfRange where the settings are not permitted, or the technology is an end of the network.
    LinkLayerSegment(const SegmentSetup& setup, SegmentMaker makeTechnology, const Json& settings);
    ~LinkLayerSegment() override;

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Prepare() override;
    void Begin() override;
    void Reset() override;
    std::int64_t Lead() const override;
    bool ProxiesNeighbours() const override;
    bool Connects(StationId from, StationId to) const override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;
    bool Ready() const override;

  private:
    /// Two stations, the one with the smaller number first.
    using Stations = std::pair<StationId, StationId>;

    struct Pair
    {
        std::unique_ptr<LayerEnd> first;
        std::unique_ptr<LayerEnd> second;
        std::unique_ptr<multiservice::SchemeChooser> chooser;

        LayerEnd& Of(bool isFirst) const
        {
            return isFirst ? *first : *second;
        }
    };

    Pair& PairOf(StationId one, StationId other);
    Pair MakePair(StationId first, StationId second);
    LayerEnd& EndOf(StationId station, StationId peer);
    void SetServices(const Json& services);
    /// Puts a pair's choices of now into force.
    void ChangeSchemes(const Pair& pair) const;
    Json ReadServices(StationId station) const;
    Json ReadFrames(StationId station) const;

    std::vector<std::string> m_names;
    std::vector<std::string> m_classes;
    Json m_said; ///< the settings now
    std::vector<ServiceId> m_ofClasses;
    multiservice::Accounting m_accounting;
    multiservice::PacketsUnderWay m_underWay;
    multiservice::PacketPool m_pool;
    multiservice::SimulatorTimebase m_timebase;
    std::vector<std::unique_ptr<Transmitter>> m_transmitters; ///< by station
    LayerFrames m_frames;
    std::map<Stations, Pair> m_pairs; ///< those that have sent anything, and the first one
    std::unique_ptr<Segment> m_technology;
};

} // namespace netboxit::link_layer
