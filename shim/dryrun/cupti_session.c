/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI: version and texts.  Everything that would record is refused by the stubs, as on a device
 * whose tracing is not available. */
#include <cupti.h>

#include "gd_export.h"
#include "unprovided.h"

GD_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch (result) {
	case CUPTI_SUCCESS:
		*text = "CUPTI_SUCCESS";
		return CUPTI_SUCCESS;
	case CUPTI_ERROR_INVALID_PARAMETER:
		*text = "CUPTI_ERROR_INVALID_PARAMETER";
		return CUPTI_SUCCESS;
	case CUPTI_ERROR_NOT_SUPPORTED:
		*text = "CUPTI_ERROR_NOT_SUPPORTED";
		return CUPTI_SUCCESS;
	default:
		*text = "CUPTI_ERROR_UNKNOWN";
		return CUPTI_SUCCESS;
	}
}
