// The options of the sanitizers, in the program: those in the environment do not reach a program that is started with
// one of its own, such as the helper for security keys.

const char *__asan_default_options(void) { return OPTIONS; }
const char *__tsan_default_options(void) { return OPTIONS; }
const char *__ubsan_default_options(void) { return OPTIONS; }
