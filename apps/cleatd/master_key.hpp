#pragma once

#include <memory>
#include <string>

#include "base/sealing.hpp"
#include "storage/data_folder.hpp"

namespace cleat::cleatd {

/// The key that secrets are sealed with: from `file`, or where that is empty from `master.key` in the data folder,
/// which is made when it is missing. Throws `std::runtime_error` for a file that cannot be read or holds no key.
std::shared_ptr<const MasterKey> load_master_key(const storage::DataFolder& folder, const std::string& file);

} // namespace cleat::cleatd
