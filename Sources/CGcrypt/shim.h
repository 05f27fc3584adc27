#pragma once

#include <gcrypt.h>
