#pragma once
#include "scenarios/lessons/lesson.h"

namespace mirrorscale::scenarios {

// One file each; a new lesson is a file, a line here, and a line in lessons.cpp.
LessonResult busy_replicas(const LessonOptions& options);
LessonResult scope_rules(const LessonOptions& options);
LessonResult predict_shape(const LessonOptions& options);
LessonResult before_after(const LessonOptions& options);
LessonResult raise_batch(const LessonOptions& options);
LessonResult model_averaging(const LessonOptions& options);

}  // namespace mirrorscale::scenarios
