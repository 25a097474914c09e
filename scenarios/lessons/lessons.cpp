#include "scenarios/lessons/lessons.h"

#include <stdexcept>

namespace mirrorscale::scenarios {

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> all{
      {"busy-replicas", "Do all replicas work at the same time, each on its share?", busy_replicas},
      {"scope", "Why must a model be built inside the strategy's scope?", scope_rules},
      {"predict-shape", "Does predict return every row, in order, on any number of devices?", predict_shape},
      {"before-after", "Is fit on several devices the same training as before, only faster?", before_after},
      {"raise-batch", "What does raising the batch with the devices buy, and what does it change?",
       raise_batch},
      {"model-averaging", "Is training separately and averaging the weights the same thing?",
       model_averaging}};
  return all;
}

const Lesson& find_lesson(std::string_view key) {
  std::string known;
  for (const Lesson& lesson : lessons()) {
    if (lesson.key == key) return lesson;
    known += (known.empty() ? "" : ", ") + lesson.key;
  }
  throw std::invalid_argument("no lesson '" + std::string(key) + "'; there are: " + known + ", and all");
}

}  // namespace mirrorscale::scenarios
