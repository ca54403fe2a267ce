// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/configuration_section.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace netboxit
{

/// A page: its document, which is object 0, and what that has the client get besides.
struct WebPage
{
    struct Object
    {
        std::uint64_t bytes;
        std::size_t request; ///< bytes of what asks for it
    };

    std::vector<Object> objects;
    std::int64_t parsing;  ///< ns from the document's arrival to the next request
    std::int64_t thinking; ///< ns from when all is there to the next page
};

/// The key "pages" of a web flow: pages that are got one after another, and from the first on again. Throws BadConfiguration.
std::vector<WebPage> ReadPages(Section& configuration);

/// "/3/0": page 3's object 0.
std::string TargetOf(std::size_t page, std::size_t object);
/// Of which object that is; nothing when there is no such.
const WebPage::Object* FindObject(const std::vector<WebPage>& pages, std::string_view target);

} // namespace netboxit
