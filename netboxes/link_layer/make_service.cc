// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_service.h"

#include "adaptive_xor.h"
#include "go_back_n.h"
#include "raw_service.h"
#include "rlp.h"
#include "rlp_out_of_sequence.h"
#include "selective_repeat.h"
#include "snoop.h"
#include "sr_m1.h"
#include "sr_m2.h"
#include "xor_parity.h"

#include <map>
#include <stdexcept>
#include <string>

namespace netboxit::multiservice
{

namespace
{

using Made = std::unique_ptr<Service>;

template <typename Scheme>
Made Make(const Json& settings, LinkEnd, ServicePort& port)
{
    return std::make_unique<Scheme>(port, settings);
}

Made MakeRaw(const Json&, LinkEnd, ServicePort& port)
{
    return std::make_unique<RawService>(port);
}

/// The mobile's end has nothing to do.
Made MakeSnoop(const Json& settings, LinkEnd end, ServicePort& port)
{
    auto snoop = std::make_unique<Snoop>(port, settings);
    return end == LinkEnd::Base ? std::move(snoop) : std::make_unique<RawService>(port);
}

} // namespace

std::unique_ptr<Service> MakeService(const Json& settings, LinkEnd end, ServicePort& port)
{
    static const std::map<std::string, Made (*)(const Json&, LinkEnd, ServicePort&)> makers{{"none", MakeRaw},
                                                                                            {"go-back-n", Make<GoBackN>},
                                                                                            {"sr", Make<SelectiveRepeat>},
                                                                                            {"sr-m1", Make<SelectiveRepeatM1>},
                                                                                            {"sr-m2", Make<SelectiveRepeatM2>},
                                                                                            {"rlp", Make<Rlp>},
                                                                                            {"rlp-oos", Make<RlpOutOfSequence>},
                                                                                            {"xor", Make<XorParity>},
                                                                                            {"xor-adaptive", Make<AdaptiveXor>},
                                                                                            {"snoop", MakeSnoop}};
    const std::string scheme = settings.at("scheme");
    const auto maker = makers.find(scheme);
    if (maker == makers.end())
    {
        std::string schemes;
        for (const auto& [name, make] : makers)
        {
            schemes += (schemes.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("no scheme is called \"" + scheme + "\"; there are " + schemes);
    }
    return maker->second(settings, end, port);
}

} // namespace netboxit::multiservice
