// SPDX-License-Identifier: GPL-2.0-or-later
#include "dash_server.h"

#include "http_message.h"
#include "http_server.h"

#include <map>

namespace netboxit
{

namespace
{

constexpr double LARGEST_OBJECT = 1e12;

using Objects = std::map<std::string, HttpObject, std::less<>>; ///< by path

Objects ReadObjects(Section& configuration)
{
    Objects objects;
    for (const auto& json : configuration.List("objects"))
    {
        Section section(json, configuration.Path("objects[" + std::to_string(objects.size()) + "]"));
        const auto path = section.Text("path");
        const HttpObject object{section.TextOr("text", ""),
                                static_cast<std::uint64_t>(section.NumberOr("bytes", 0, 0, LARGEST_OBJECT))};
        section.Finish();
        if (!http::IsPath(path) || !objects.emplace(path, object).second)
        {
            section.Refuse("path", "is \"" + path + R"("; write each once, like "/video.mp4")");
        }
    }
    return objects;
}

} // namespace

std::unique_ptr<Flow> MakeDashServer(const FlowPlace& place, Section& configuration)
{
    const auto server = ReadHttpServer(configuration);
    const auto content = [objects = ReadObjects(configuration)](std::string_view target) {
        const auto found = objects.find(target);
        return found == objects.end() ? std::nullopt : std::optional(found->second);
    };
    return std::make_unique<HttpServer>(place, server, content);
}

} // namespace netboxit
