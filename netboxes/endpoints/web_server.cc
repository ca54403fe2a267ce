// SPDX-License-Identifier: GPL-2.0-or-later
#include "web_server.h"

#include "http_server.h"
#include "web_pages.h"

namespace netboxit
{

std::unique_ptr<Flow> MakeWebServer(const FlowPlace& place, Section& configuration)
{
    const auto server = ReadHttpServer(configuration);
    const auto content = [pages = ReadPages(configuration)](std::string_view target) {
        const auto* const object = FindObject(pages, target);
        return object == nullptr ? std::nullopt : std::optional(HttpObject{.text = {}, .zeros = object->bytes});
    };
    return std::make_unique<HttpServer>(place, server, content);
}

} // namespace netboxit
